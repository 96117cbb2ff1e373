// A folder for one test, gone with it.
#pragma once

#include "file.h"

namespace teeny::tool {

class TemporaryDirectory {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  PrivateDirectory directory_{temporary_root(), "teeny test ä "};
};

}  // namespace teeny::tool
