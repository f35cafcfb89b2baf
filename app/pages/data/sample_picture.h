#pragma once
// A sample as a person reads it: a picture of an image or a wave, a few words for numbers.
#include <QImage>
#include <QString>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/shape.h"
#include "engine/data/dataset.h"

namespace loom {

// How prepared numbers came of raw ones, by channel: prepared = raw * by + add. Empty: they are raw.
struct PictureScale {
  std::vector<float> by, add;
  bool bytes = false;  // the raw ones go from 0 to 255
};

// Grey or RGB from C x H x W, a wave from samples x channels of one or two; a null image for others. Pictures are shown
// as the raw numbers are: u8 and what lies within 0 to 1 or 0 to 255 in that range, so that no picture is brightened;
// only others go from their lowest to their highest.
QImage samplePicture(std::span<const std::byte> bytes, const Shape& shape, DataType type,
                     const PictureScale& scale = {});

// The first numbers of a sample, "0.12, -3.4, 5 ... (8 values)"; a scalar alone.
QString sampleText(std::span<const std::byte> bytes, const Shape& shape, DataType type, int most = 6);

}  // namespace loom
