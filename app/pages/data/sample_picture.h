#pragma once
// A sample as a person reads it: a picture of an image or a wave, a few words for numbers.
#include <QImage>
#include <QString>

#include <cstddef>
#include <span>

#include "engine/base/shape.h"
#include "engine/data/dataset.h"

namespace loom {

// Grey or RGB from C x H x W, u8 as stored or f32 (spread from its lowest to its highest value); a null image for other
// channel counts. Not scaled.
QImage samplePicture(std::span<const std::byte> bytes, const Shape& shape, DataType type);

// The first numbers of a sample, "0.12, -3.4, 5 ... (8 values)"; a scalar alone.
QString sampleText(std::span<const std::byte> bytes, const Shape& shape, DataType type, int most = 6);

}  // namespace loom
