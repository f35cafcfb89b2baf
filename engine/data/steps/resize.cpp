#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/prepare_step.h"
#include "engine/data/resample.h"

namespace loom {
namespace {

class Resizing : public PictureStep {
 public:
  Resizing(std::int64_t rows, std::int64_t columns, bool shorter)
      : m_rows(rows), m_columns(columns), m_shorter(shorter) {}

  PicturePiece sizeOf(std::int64_t rows, std::int64_t columns) const {
    if (!m_shorter) return {.rows = m_rows, .columns = m_columns};
    return rows <= columns ? PicturePiece{.rows = m_rows, .columns = m_rows * columns / rows}
                           : PicturePiece{.rows = m_rows * rows / columns, .columns = m_rows};
  }

  void apply(const PictureView& in, const SampleDraw&, Picture& out) const override {
    const PicturePiece size = sizeOf(in.rows, in.columns);
    resample(in, {.rows = in.rows, .columns = in.columns}, size.rows, size.columns, out);
  }

 private:
  std::int64_t m_rows, m_columns;
  bool m_shorter;
};

void addResize(const Values& given, PreparationPlan& plan) {
  needImage(plan, "changes the size of");
  const SizeGiven size = sizeGiven(given, "size", plan);
  const bool shorter = given.text("fit") == "shorter";
  if (shorter && size.rows != size.columns)
    throwError(ErrorCode::badProject, "'size' is {} and {}, but the shorter side is one number", size.rows,
               size.columns);
  auto step = std::make_shared<Resizing>(size.rows, size.columns, shorter);
  if (plan.rows.fixed() && plan.columns.fixed()) {
    const PicturePiece made = step->sizeOf(plan.rows.low, plan.columns.low);
    const bool asItIs = made.rows == plan.rows.low && made.columns == plan.columns.low;
    plan.rows = {made.rows, made.rows};
    plan.columns = {made.columns, made.columns};
    if (asItIs) return;
  } else if (shorter) {
    const auto longest = [&](const Extents& one, const Extents& other) {
      return std::max(size.rows, size.rows * one.high / std::max<std::int64_t>(other.low, 1));
    };
    const std::int64_t rows = longest(plan.rows, plan.columns), columns = longest(plan.columns, plan.rows);
    plan.rows = {size.rows, rows};
    plan.columns = {size.rows, columns};
  } else {
    plan.rows = {size.rows, size.rows};
    plan.columns = {size.columns, size.columns};
  }
  plan.compute(std::move(step));
}

}  // namespace

const PrepareStep& defineResizeStep() {
  static const PrepareStep step{
      .entry = {.id = "Resize",
                .label = "Resize",
                .category = "shape",
                .icon = "scale",
                .aliases = {"Scale to size"},
                .summary = "Brings every picture to one size",
                .help = "Bilinear and antialiased, to the pixel as Pillow and torchvision do it. At the beginning of "
                        "the preparation pictures are stored in the new size, which takes no time while training.",
                .fields = {{.key = "size",
                            .label = "Size",
                            .help = "Height and width (one number for both).",
                            .type = FieldType::integers,
                            .hard = Range{1, 16384},
                            .important = true},
                           {.key = "fit",
                            .label = "Fit",
                            .help = "What is brought to that size.",
                            .type = FieldType::choice,
                            .defaultValue = "exact",
                            .choices = {{"exact", "Both sides", "Whatever the proportions were."},
                                        {"shorter", "Shorter side",
                                         "The longer one keeps the proportions; a Crop behind it makes sizes equal."}}},
                           variableField()}},
      .means = PrepareStep::Means::pictures,
      .computes = true,
      .beforePacking = true,
      .add = addResize};
  return step;
}

}  // namespace loom
