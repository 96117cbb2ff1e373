"""Bytes to a file descriptor, whole, whatever the locale says."""

import os


def put(fd, data):
    """Writes all of `data` (text as UTF-8). A reader that has gone away is not an error."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BrokenPipeError:
            return


def out(data):
    put(1, data)


def err(data):
    put(2, data)
