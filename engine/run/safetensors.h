#pragma once
// Tensors in a file as Hugging Face's safetensors defines it: 8 bytes little-endian length of a JSON header, the header
// ("name": {"dtype", "shape", "data_offsets"}, "__metadata__": {text: text}), the data. Other tools open our
// checkpoints as they are. We add "data_xxh64", the hash of the data, and "header_xxh64", that of the header with this
// hash as zeros, to the metadata, so that a file which was damaged in any bit is told from a whole one.
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/shape.h"

namespace loom {

class TensorFile {
 public:
  struct Tensor {
    std::string name;
    Shape shape;
    std::span<const float> values;  // row-major
  };
  using Metadata = std::map<std::string, std::string>;

  // Atomically (written beside, synced, renamed). Throws Error(diskFull, inputOutput).
  static void write(const std::filesystem::path& path, const std::vector<Tensor>& tensors, Metadata metadata);

  // Maps the file and checks all of it: header, offsets without gap or overlap up to the last byte, hash where there is
  // one. Throws Error(badData) saying what is wrong. Tensors of F16, BF16 and F64 are read as f32; those of whole
  // numbers are left out.
  explicit TensorFile(const std::filesystem::path& path);
  const std::vector<Tensor>& tensors() const { return m_tensors; }
  const Tensor* find(std::string_view name) const;
  const Metadata& metadata() const { return m_metadata; }

 private:
  MappedFile m_file;
  std::vector<std::vector<float>> m_converted;  // what is not f32 in the file
  std::vector<Tensor> m_tensors;                // in file order
  Metadata m_metadata;
};

}  // namespace loom
