#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/data/prepare_step.h"
#include "engine/data/resample.h"

namespace loom {
namespace {

constexpr int kTries = 10;

// A piece of random area and proportions at a random place (Szegedy et al., 2014), brought to one size.
class Piece : public PictureStep {
 public:
  Piece(SizeGiven size, std::vector<double> area, std::vector<double> ratio, bool random)
      : m_size(size), m_area(std::move(area)), m_ratio(std::move(ratio)), m_random(random) {}

  void apply(const PictureView& in, const SampleDraw& draw, Picture& out) const override {
    resample(in, m_random ? drawn(in, draw) : middle(in, ratioOf(m_size.columns, m_size.rows)), m_size.rows,
             m_size.columns, out);
  }

 private:
  static double ratioOf(std::int64_t columns, std::int64_t rows) {
    return static_cast<double>(columns) / static_cast<double>(rows);
  }

  // The largest one of these proportions.
  static PicturePiece middle(const PictureView& in, double ratio) {
    PicturePiece piece{.rows = in.rows, .columns = in.columns};
    if (ratioOf(in.columns, in.rows) > ratio)
      piece.columns = std::max<std::int64_t>(std::llround(static_cast<double>(in.rows) * ratio), 1);
    else
      piece.rows = std::max<std::int64_t>(std::llround(static_cast<double>(in.columns) / ratio), 1);
    piece.top = (in.rows - piece.rows) / 2;
    piece.left = (in.columns - piece.columns) / 2;
    return piece;
  }

  PicturePiece drawn(const PictureView& in, const SampleDraw& draw) const {
    for (int time = 0; time < kTries; ++time) {
      const Philox::Block words = draw.words(time);
      const auto between = [&](int word, double low, double high) {
        return low + (high - low) * double{Philox::toUniform(words[static_cast<std::size_t>(word)])};
      };
      const double area = static_cast<double>(in.pixels()) * between(0, m_area[0], m_area[1]);
      const double ratio = std::exp(between(1, std::log(m_ratio[0]), std::log(m_ratio[1])));
      PicturePiece piece{.rows = std::llround(std::sqrt(area / ratio)),
                         .columns = std::llround(std::sqrt(area * ratio))};
      if (piece.rows < 1 || piece.columns < 1 || piece.rows > in.rows || piece.columns > in.columns) continue;
      const auto place = [&](int word, std::int64_t free) {
        return static_cast<std::int64_t>(
            std::uint64_t{words[static_cast<std::size_t>(word)]} * static_cast<std::uint64_t>(free + 1) >> 32);
      };
      piece.top = place(2, in.rows - piece.rows);
      piece.left = place(3, in.columns - piece.columns);
      return piece;
    }
    return middle(in, std::clamp(ratioOf(in.columns, in.rows), m_ratio[0], m_ratio[1]));
  }

  SizeGiven m_size;
  std::vector<double> m_area, m_ratio;
  bool m_random;
};

void addRandomResizedCrop(const Values& given, PreparationPlan& plan) {
  needImage(plan, "cuts pieces out of");
  const std::vector<double> area = given.reals("area"), ratio = given.reals("ratio");
  for (const auto* range : {&area, &ratio})
    if ((*range)[0] > (*range)[1])
      throwError(ErrorCode::badProject, "'{}' goes from {} to {}; the smaller number stands first",
                 range == &area ? "area" : "ratio", (*range)[0], (*range)[1]);
  const SizeGiven size = sizeGiven(given, "size", plan);
  plan.rows = {size.rows, size.rows};
  plan.columns = {size.columns, size.columns};
  plan.compute(std::make_shared<Piece>(size, area, ratio, plan.random));
}

}  // namespace

const PrepareStep& defineRandomResizedCropStep() {
  static const PrepareStep step{
      .entry = {.id = "RandomResizedCrop",
                .label = "Random resized crop",
                .category = "random",
                .icon = "crop",
                .aliases = {"InceptionCrop"},
                .summary = "Cuts a piece of random size out of each picture and resizes it",
                .help = "As networks for ImageNet are trained: another piece in every epoch. Validation takes the "
                        "largest piece from the middle that has the proportions of the size. Put a Resize of the "
                        "shorter side before it where pictures are much larger, so that less is stored and read.",
                .fields = {{.key = "size",
                            .label = "Size",
                            .help = "Height and width of the result (one number for both).",
                            .type = FieldType::integers,
                            .hard = Range{1, 16384},
                            .important = true},
                           {.key = "area",
                            .label = "Area",
                            .help = "Smallest and largest part of the picture's area that is cut out.",
                            .type = FieldType::reals,
                            .defaultValue = Json::array({0.08, 1.0}),
                            .hard = Range{1e-6, 1},
                            .count = 2},
                           {.key = "ratio",
                            .label = "Proportions",
                            .help = "Smallest and largest width divided by height of the piece.",
                            .type = FieldType::reals,
                            .defaultValue = Json::array({0.75, 1.3333333333333333}),
                            .hard = Range{0.01, 100},
                            .count = 2},
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .computes = true,
      .add = addRandomResizedCrop};
  return step;
}

}  // namespace loom
