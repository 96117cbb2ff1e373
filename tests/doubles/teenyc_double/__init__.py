"""The parts of the stand-in for teenyc; the script beside this folder is the program."""
