#pragma once
// What the module "loom_heif.so", which links libheif, gives to the engine: plain C, so that either may be of another
// build.
#include <cstddef>
#include <cstdint>

extern "C" {

struct LoomHeifPicture {
  int width, height, channels;  // 3, or 4 with alpha; 8 bits each, upright as the file says
  std::size_t stride;           // bytes from one row to the next
  const std::uint8_t* pixels;   // channel beside channel; of `owner`
  void* owner;                  // given back by `free`
};

struct LoomHeifFunctions {
  int version;
  // The size alone, before memory is taken; then the picture. 0, or 1 with a sentence in `why`.
  int (*size)(const void* file, std::size_t bytes, int* width, int* height, char* why, std::size_t room);
  int (*decode)(const void* file, std::size_t bytes, LoomHeifPicture* picture, char* why, std::size_t room);
  void (*free)(void* owner);
};

using LoomHeifEntry = const LoomHeifFunctions* (*)();
}

inline constexpr int kLoomHeifVersion = 1;
inline constexpr char kLoomHeifEntryName[] = "loomHeifFunctions";
