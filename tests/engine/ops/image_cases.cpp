#include "engine/ops/image_preparation.h"
#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> imageCases() {
  const auto images = [](std::string name, Shape shape, ImagePreparation preparation) {
    const auto channels = static_cast<std::size_t>(shape[1]);
    for (std::size_t c = 0; c < channels; ++c) {
      preparation.scale.push_back(0.01f + 0.001f * static_cast<float>(c));
      preparation.shift.push_back(0.5f - 0.25f * static_cast<float>(c));
    }
    for (std::size_t i = 0; i < preparation.steps.size() * channels; ++i)
      preparation.borders.push_back(-1.5f + 0.125f * static_cast<float>(i));
    preparation.seed = 5;
    const std::int64_t batch = shape[0];
    return OpCase{std::move(name),
                  "prepare_images",
                  {{std::move(shape), InputKind::bytes, 0, 256}, {{batch, 2}, InputKind::samples, 0, 50000}},
                  attributesOf(preparation)};
  };
  const WindowStep flip{.kind = WindowKind::flip, .probability = 0.5, .number = 3};
  const auto crop = [](WindowPosition position, std::int64_t rows, std::int64_t columns) {
    return WindowStep{.kind = WindowKind::crop, .position = position, .rows = rows, .columns = columns, .number = 2};
  };
  return {
      images("prepare_images_plain", {3, 2, 4, 5}, {.rows = 4, .columns = 5}),
      images("prepare_images_shifted", {6, 3, 5, 7},
             {.steps = {{.kind = WindowKind::padBy, .rows = 2, .columns = 1, .number = 1},
                        crop(WindowPosition::random, 5, 7),
                        flip},
              .rows = 5,
              .columns = 7}),
      images("prepare_images_cut_out", {5, 16, 9, 8},
             {.steps = {{.kind = WindowKind::cut, .rows = 4, .columns = 3},
                        {.kind = WindowKind::padTo, .position = WindowPosition::start, .rows = 11, .columns = 8},
                        flip,
                        crop(WindowPosition::centre, 8, 6),
                        {.kind = WindowKind::cut, .rows = 3, .columns = 5, .number = 9}},
              .rows = 8,
              .columns = 6}),
      images("prepare_images_at_the_start", {2, 1, 6, 6},
             {.steps = {crop(WindowPosition::start, 3, 4)}, .rows = 3, .columns = 4}),
  };
}

}  // namespace loom::cases
