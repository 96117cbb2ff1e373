// Lists the GPU kernels that are embedded in this program.
#include <cstdio>
#include <string>

#include "teeny-example_kernels.hpp"

namespace {

std::string threads(const teeny::Metadata& metadata) {
  if (metadata.required_threads[0] != 0) return std::to_string(metadata.required_threads[0]);
  if (metadata.num_warps != 0) return std::to_string(metadata.num_warps * 32);
  return "any";
}

}  // namespace

int main() {
  std::printf("%-14s %-8s %4s %7s  %-24s %s\n", "kernel", "arch", "PTX", "bytes", "entry",
              "threads");
  for (const teeny::Kernel& kernel : teeny_example_kernels::all()) {
    for (const teeny::Image& image : kernel.images()) {
      const teeny::Metadata metadata = image.metadata();
      std::printf("%-14s %-8s %2u.%u %7zu  %-24s %s\n", std::string(kernel.name()).c_str(),
                  image.architecture().c_str(), metadata.ptx_version / 10,
                  metadata.ptx_version % 10, image.bytes().size(),
                  std::string(metadata.entry).c_str(), threads(metadata).c_str());
    }
  }

  // What a program does with a kernel: pick the image for the device, hand its text to the driver.
  const teeny::Capability device{9, 0};
  const teeny::Kernel& saxpy = teeny_example_kernels::saxpy;
  if (const teeny::Image* image = saxpy.image_for(device)) {
    std::printf(
        "\nA device of compute capability %u.%u would load saxpy for %s (%zu bytes of PTX)\n",
        device.major, device.minor, image->architecture().c_str(), image->ptx().size());
  } else {
    std::printf("\n%s\n", saxpy.why_no_image_for(device).c_str());
  }
  return 0;
}
