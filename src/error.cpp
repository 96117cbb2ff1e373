#include "error.h"

#include <system_error>

namespace teeny::tool {

SystemError::SystemError(int code, std::string_view operation, std::string_view object)
    : Error(ErrorKind::environment, std::string(operation) + "(" + std::string(object) +
                                        "): " + std::generic_category().message(code)),
      code_(code) {}

}  // namespace teeny::tool
