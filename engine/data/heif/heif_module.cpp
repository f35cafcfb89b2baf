// libheif behind a few C functions: the only file that is linked with it.
#include <libheif/heif.h>

#include <cstdio>

#include "engine/data/heif/heif_functions.h"

namespace {

int tell(const heif_error& error, char* why, std::size_t room) {
  if (error.code == heif_error_Ok) return 0;
  std::snprintf(why, room, "%s", error.message ? error.message : "unknown");
  return 1;
}

// A file that is open, and its first picture.
struct Opened {
  heif_context* context = heif_context_alloc();
  heif_image_handle* handle = nullptr;
  heif_image* image = nullptr;
  ~Opened() {
    if (image) heif_image_release(image);
    if (handle) heif_image_handle_release(handle);
    heif_context_free(context);
  }
  Opened() = default;
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int open(const void* file, std::size_t bytes, char* why, std::size_t room) {
    if (tell(heif_context_read_from_memory_without_copy(context, file, bytes, nullptr), why, room) != 0) return 1;
    return tell(heif_context_get_primary_image_handle(context, &handle), why, room);
  }
};

int size(const void* file, std::size_t bytes, int* width, int* height, char* why, std::size_t room) {
  Opened opened;
  if (opened.open(file, bytes, why, room) != 0) return 1;
  *width = heif_image_handle_get_width(opened.handle);
  *height = heif_image_handle_get_height(opened.handle);
  return 0;
}

int decode(const void* file, std::size_t bytes, LoomHeifPicture* picture, char* why, std::size_t room) {
  auto* const opened = new Opened;
  picture->owner = opened;
  if (opened->open(file, bytes, why, room) != 0) return 1;
  const bool alpha = heif_image_handle_has_alpha_channel(opened->handle) != 0;
  heif_decoding_options* const options = heif_decoding_options_alloc();
  options->convert_hdr_to_8bit = 1;
  const heif_error error =
      heif_decode_image(opened->handle, &opened->image, heif_colorspace_RGB,
                        alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, options);
  heif_decoding_options_free(options);
  if (tell(error, why, room) != 0) return 1;
  int stride = 0;
  picture->pixels = heif_image_get_plane_readonly(opened->image, heif_channel_interleaved, &stride);
  picture->stride = static_cast<std::size_t>(stride);
  picture->width = heif_image_get_primary_width(opened->image);
  picture->height = heif_image_get_primary_height(opened->image);
  picture->channels = alpha ? 4 : 3;
  if (picture->pixels && picture->width > 0 && picture->height > 0) return 0;
  std::snprintf(why, room, "it gave no pixels");
  return 1;
}

void give(void* owner) {
  delete static_cast<Opened*>(owner);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const LoomHeifFunctions* loomHeifFunctions() {
  static const LoomHeifFunctions functions{kLoomHeifVersion, size, decode, give};
  return &functions;
}
