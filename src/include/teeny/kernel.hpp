// GPU kernels embedded in this program or library by teeny_add_kernel(). C++17, no CUDA.
//
//     #include "app_kernels.hpp"                       // generated for target `app`
//     const teeny::Kernel& k = app_kernels::saxpy;
//     if (const teeny::Image* image = k.image_for({9, 0})) load(image->ptx().data());
//     else fail(k.why_no_image_for({9, 0}));
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "teeny/kernel.hpp needs C++17 or newer"
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <teeny/detail/image_data.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace teeny {

/// A device's compute capability, as CUDA's device attributes give it: {9, 0} for sm_90.
struct Capability {
  unsigned major = 0;
  unsigned minor = 0;

  /// major * 10 + minor.
  [[nodiscard]] constexpr unsigned number() const noexcept { return major * 10 + minor; }
};

/// What the bytes of an image are.
enum class ImageFormat : std::uint8_t {
  ptx,    ///< PTX text, compiled by the driver when it is loaded
  cubin,  ///< machine code for one architecture
};

/// What a launcher has to know of a kernel. Zero where neither kernel nor compiler say.
struct Metadata {
  std::string_view entry;         ///< symbol of the entry point
  std::uint32_t ptx_version = 0;  ///< PTX ISA version, major * 10 + minor
  std::uint32_t num_warps = 0;    ///< warps per block: the block has num_warps * 32 threads
  std::uint32_t num_ctas = 1;     ///< blocks per cluster
  std::uint32_t shared = 0;       ///< dynamic shared memory, bytes
  std::uint32_t tmem_size = 0;    ///< tensor memory, as the compiler gives it
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< threads per block demanded (.reqntid)
  std::uint64_t global_scratch_size = 0;          ///< bytes per block
  std::uint64_t global_scratch_align = 1;         ///< bytes
  std::uint64_t profile_scratch_size = 0;         ///< bytes per block
  std::uint64_t profile_scratch_align = 1;        ///< bytes
};

/// A kernel compiled for one architecture. A view of data that lives as long as the program or
/// library that embeds it.
class Image {
 public:
  constexpr explicit Image(const detail::ImageData& data) noexcept : data_(&data) {}

  /// As compilers spell it: `sm_90`, `sm_90a`.
  [[nodiscard]] std::string architecture() const {
    std::string text = "sm_" + std::to_string(data_->capability);
    if (data_->suffix != '\0') text += data_->suffix;
    return text;
  }
  [[nodiscard]] constexpr Capability capability() const noexcept {
    return {data_->capability / 10U, data_->capability % 10U};
  }
  /// `a`: runs on exactly this capability. `f`: on its family (same major, minor not below).
  /// NUL: on this and any newer capability (PTX).
  [[nodiscard]] constexpr char suffix() const noexcept { return data_->suffix; }
  [[nodiscard]] constexpr ImageFormat format() const noexcept {
    return static_cast<ImageFormat>(data_->format);
  }
  /// The image. A NUL follows that the size does not count; aligned to 64 bytes.
  [[nodiscard]] constexpr std::string_view bytes() const noexcept {
    return {data_->bytes, data_->size};
  }
  /// The bytes of a PTX image, `data()` fit for cuModuleLoadData; empty for any other format.
  [[nodiscard]] constexpr std::string_view ptx() const noexcept {
    return format() == ImageFormat::ptx ? bytes() : std::string_view();
  }
  /// SHA-256 of bytes(), lower-case hex.
  [[nodiscard]] constexpr std::string_view digest() const noexcept { return data_->sha256; }
  [[nodiscard]] constexpr Metadata metadata() const noexcept {
    const detail::ImageData& d = *data_;
    return {d.entry,
            d.ptx_version,
            d.num_warps,
            d.num_ctas,
            d.shared,
            d.tmem_size,
            {d.required_threads[0], d.required_threads[1], d.required_threads[2]},
            d.global_scratch_size,
            d.global_scratch_align,
            d.profile_scratch_size,
            d.profile_scratch_align};
  }
  /// Whether a device of this capability can run the image.
  [[nodiscard]] constexpr bool runs_on(Capability device) const noexcept {
    const Capability own = capability();
    switch (suffix()) {
      case 'a':
        return own.number() == device.number();
      case 'f':
        return own.major == device.major && own.minor <= device.minor;
      default:
        return own.number() <= device.number();
    }
  }

 private:
  const detail::ImageData* data_;
};

/// A contiguous range of constant objects that live as long as the program.
template <typename T>
class List {
 public:
  using value_type = T;
  using const_iterator = const T*;
  constexpr List(const T* first, std::size_t size) noexcept : first_(first), size_(size) {}
  [[nodiscard]] constexpr const T* begin() const noexcept { return first_; }
  [[nodiscard]] constexpr const T* end() const noexcept { return first_ + size_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const noexcept {
    return first_[index];
  }

 private:
  const T* first_;
  std::size_t size_;
};

/// One instantiation of one Rust kernel function, in all architectures it was compiled for.
class Kernel {
 public:
  constexpr Kernel(std::string_view name, List<Image> images) noexcept
      : name_(name), images_(images) {}

  /// The NAME given to teeny_add_kernel().
  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  /// Symbol of the entry point, the same in every image.
  [[nodiscard]] constexpr std::string_view entry() const noexcept {
    return images_[0].metadata().entry;
  }
  /// In the order of ARCHITECTURES; never empty.
  [[nodiscard]] constexpr List<Image> images() const noexcept { return images_; }

  /// The image to load on a device: the one for exactly its capability (`a` before `f` before
  /// plain), else the one of its family, else the newest plain one not above it. Null when none
  /// can run there.
  [[nodiscard]] constexpr const Image* image_for(Capability device) const noexcept {
    const Image* best = nullptr;
    for (const Image& image : images_) {
      if (image.runs_on(device) && (best == nullptr || rank(image, device) > rank(*best, device))) {
        best = &image;
      }
    }
    return best;
  }

  /// Text for people: the device, the images there are, and what to change in CMake.
  [[nodiscard]] std::string why_no_image_for(Capability device) const {
    std::string text = "kernel " + std::string(name_) + " has no image for a device of compute " +
                       "capability " + std::to_string(device.major) + "." +
                       std::to_string(device.minor) + "; it was compiled for";
    for (const Image& image : images_) text += " " + image.architecture();
    return text + ". Add " + std::to_string(device.number()) +
           " to ARCHITECTURES of its teeny_add_kernel().";
  }

 private:
  static constexpr unsigned rank(const Image& image, Capability device) noexcept {
    const bool exact = image.capability().number() == device.number();
    const unsigned kind = image.suffix() == 'a' ? 2U : image.suffix() == 'f' ? 1U : 0U;
    constexpr unsigned k_exact = 1U << 20U;
    constexpr unsigned k_family = 1U << 19U;
    return (exact ? k_exact : kind == 1U ? k_family : 0U) + image.capability().number() * 4U + kind;
  }

  std::string_view name_;
  List<Image> images_;
};

/// IEEE 754 binary16, as its bits.
struct f16 {
  std::uint16_t bits;
};

/// bfloat16 (the upper half of a binary32), as its bits.
struct bf16 {
  std::uint16_t bits;
};

/// The address of a T in device memory. Made from a CUdeviceptr, or from the T* that CUDA's runtime
/// gives; converts as pointers do, so that a pointer to const takes both.
template <typename T>
class DevicePointer {
 public:
  constexpr DevicePointer() noexcept = default;
  constexpr DevicePointer(std::nullptr_t) noexcept {}
  constexpr explicit DevicePointer(std::uint64_t address) noexcept : address_(address) {}
  DevicePointer(T* pointer) noexcept : address_(reinterpret_cast<std::uintptr_t>(pointer)) {}
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  constexpr DevicePointer(DevicePointer<U> other) noexcept : address_(other.address()) {}

  [[nodiscard]] constexpr std::uint64_t address() const noexcept { return address_; }

 private:
  std::uint64_t address_ = 0;
};

namespace detail {

template <typename Parameter, typename Given, typename = void>
struct IsPassable : std::false_type {};
// Braces refuse what would lose something: a float for an integer, a signed one for an unsigned.
template <typename Parameter, typename Given>
struct IsPassable<Parameter, Given, std::void_t<decltype(Parameter{std::declval<Given>()})>>
    : std::bool_constant<std::is_convertible_v<Given, Parameter>> {};

}  // namespace detail

/// The arguments of one launch, as cuLaunchKernel() wants them: `kernelParams` is data().
template <typename... Parameters>
class Arguments {
 public:
  explicit Arguments(unsigned scratch_pointers, Parameters... values) noexcept
      : values_(values...), size_(sizeof...(Parameters) + scratch_pointers) {
    fill(std::index_sequence_for<Parameters...>());
  }
  Arguments(const Arguments&) = delete;  // data() points into this object
  Arguments& operator=(const Arguments&) = delete;

  /// Addresses of all arguments, in order; behind the declared ones those of the scratch pointers.
  [[nodiscard]] void** data() noexcept { return addresses_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Scratch memory of a triton kernel, whose sizes its Metadata gives; null unless set. A kernel
  /// without scratch pointers ignores it.
  void set_scratch(DevicePointer<void> global, DevicePointer<void> profile) noexcept {
    scratch_ = {global, profile};
  }

 private:
  template <std::size_t... Index>
  void fill(std::index_sequence<Index...>) noexcept {
    ((addresses_[Index] = &std::get<Index>(values_)), ...);
    addresses_[sizeof...(Parameters)] = &scratch_[0];
    addresses_[sizeof...(Parameters) + 1] = &scratch_[1];
  }

  std::tuple<Parameters...> values_;
  std::array<DevicePointer<void>, 2> scratch_;
  std::array<void*, sizeof...(Parameters) + 2> addresses_{};
  std::size_t size_;
};

/// A kernel whose parameters are known from its Rust signature: device pointers typed by element,
/// const where Rust has `*const` or `In<…>`; integers of fixed width; float, double, bool.
template <typename... Parameters>
class TypedKernel : public Kernel {
 public:
  /// `scratch_pointers`: hidden parameters behind the declared ones; 2 for triton, else 0.
  constexpr TypedKernel(const Kernel& kernel, unsigned scratch_pointers) noexcept
      : Kernel(kernel), scratch_pointers_(scratch_pointers) {}

  /// Checks number, types and order of the arguments when it is compiled. Nothing is converted that
  /// could lose something: an `int` is no std::uint32_t.
  template <typename... Given>
  [[nodiscard]] Arguments<Parameters...> arguments(Given&&... given) const noexcept {
    static_assert(sizeof...(Given) == sizeof...(Parameters),
                  "the kernel takes another number of arguments");
    if constexpr (sizeof...(Given) == sizeof...(Parameters)) {
      static_assert((detail::IsPassable<Parameters, Given>::value && ...),
                    "an argument is not of its parameter's type");
      return Arguments<Parameters...>(scratch_pointers_,
                                      static_cast<Parameters>(std::forward<Given>(given))...);
    }
  }

  [[nodiscard]] constexpr unsigned scratch_pointers() const noexcept { return scratch_pointers_; }

 private:
  unsigned scratch_pointers_;
};

namespace detail {

/// Binary search; `kernels` is sorted by name.
[[nodiscard]] constexpr const Kernel* find_kernel(List<Kernel> kernels,
                                                  std::string_view name) noexcept {
  std::size_t low = 0;
  std::size_t high = kernels.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const int order = kernels[middle].name().compare(name);
    if (order == 0) return &kernels[middle];
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return nullptr;
}

}  // namespace detail

}  // namespace teeny
