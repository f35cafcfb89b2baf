"""Writes picture_values.h: what Pillow makes of a small picture. Run it where Pillow is:
    python3 picture_values.py > picture_values.h
"""
import numpy as np
from PIL import Image, ImageEnhance, ImageOps


def pixels(rows, columns, channels):
    y, x, c = np.mgrid[0:rows, 0:columns, 0:channels]
    return ((x * 23 + y * 41 + c * 67 + x * y % 11 * 9 + x * c * 5) % 256).astype(np.uint8)


def picture(rows, columns, channels):
    values = pixels(rows, columns, channels)
    return Image.fromarray(values if channels == 3 else values[:, :, 0])


def told(name, image):
    values = np.asarray(image)
    planes = values[None] if values.ndim == 2 else values.transpose(2, 0, 1)
    rows = ["".join(f"{v}, " for v in planes.ravel()[i : i + 24]).strip() for i in range(0, planes.size, 24)]
    print(f"inline const PictureValues {name}{{{{{planes.shape[0]}, {planes.shape[1]}, {planes.shape[2]}}},\n{{")
    print("\n".join(rows))
    print("}};")


def hue(image, part):  # torchvision.transforms.functional.adjust_hue of a picture of Pillow
    h, s, v = image.convert("HSV").split()
    turned = np.array(h, dtype=np.uint8)
    turned += np.int32(part * 255).astype(np.uint8)
    return Image.merge("HSV", (Image.fromarray(turned, "L"), s, v)).convert("RGB")


print("// Written by picture_values.py: what Pillow makes of the picture that pixelAt() describes.\n// clang-format off")
print("#pragma once\n#include <vector>\n\n#include \"engine/base/shape.h\"\n\nnamespace loom {\n")
print("struct PictureValues {\n  Shape shape;\n  std::vector<int> planes;\n};\n")
print("inline int pixelAt(std::int64_t y, std::int64_t x, std::int64_t c) {")
print("  return static_cast<int>((x * 23 + y * 41 + c * 67 + x * y % 11 * 9 + x * c * 5) % 256);\n}\n")
colour, grey = picture(9, 13, 3), picture(9, 13, 1)
told("kSmaller", colour.resize((6, 4), Image.BILINEAR))
told("kLarger", grey.resize((17, 12), Image.BILINEAR))
told("kPiece", colour.crop((2, 1, 11, 8)).resize((5, 5), Image.BILINEAR))
told("kBrighter", ImageEnhance.Brightness(picture(5, 7, 3)).enhance(1.4))
told("kDarker", ImageEnhance.Brightness(picture(5, 7, 3)).enhance(0.3))
told("kContrast", ImageEnhance.Contrast(picture(5, 7, 3)).enhance(1.7))
told("kPaler", ImageEnhance.Color(picture(5, 7, 3)).enhance(0.25))
told("kHue", hue(picture(5, 7, 3), 0.3))
told("kHueBack", hue(picture(5, 7, 3), -0.12))
told("kGrey", picture(5, 7, 3).convert("L"))
told("kTurned", picture(8, 7, 1).rotate(30, Image.BILINEAR, fillcolor=9))
for orientation in range(2, 9):
    image = Image.fromarray(np.arange(1, 7, dtype=np.uint8).reshape(2, 3))
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.info["exif"] = exif.tobytes()
    image._exif = exif
    told(f"kUpright{orientation}", ImageOps.exif_transpose(image))
print("\n}  // namespace loom\n// clang-format on")
