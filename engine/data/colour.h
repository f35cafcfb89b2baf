#pragma once
// Colours of a picture: the arithmetic of Pillow and torchvision. Channels are grey, grey and alpha, RGB, or RGBA;
// alpha stays as it is. Bytes stay whole numbers of 0 to 255, floats are kept within them.
#include "engine/data/prepare_step.h"

namespace loom {

// Times `factor`: 0 is black, 1 the picture itself.
void brighten(Picture& picture, double factor);
// Away from the picture's mean grey by `factor`: 0 is grey all over.
void contrast(Picture& picture, double factor);
// Away from each pixel's grey by `factor`: 0 is a grey picture. Nothing for a grey one.
void saturate(Picture& picture, double factor);
// Around the circle of hues by a part of it, -0.5 to 0.5. Nothing for a grey one.
void turnHue(Picture& picture, double part);

// Grey (1 channel) or RGB (3) of any picture; alpha is left out.
void toGrey(const PictureView& in, Picture& out);
void toColour(const PictureView& in, Picture& out);

}  // namespace loom
