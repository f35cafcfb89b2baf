#pragma once
// A value of the ONNX graph as a view of what a drawn node gives. Reshapes, transposes and slices of exporters change
// the view and draw nothing; where a layer wants the value itself, view() answers what has to be drawn. A node's output
// is one sample, row-major, without the batch; the view knows where the batch stands among the axes of the ONNX value,
// which need not be in front.
#include <optional>

#include "engine/exchange/onnx/facts.h"
#include "engine/network/network.h"

namespace loom::onnx_file {

// A run through the source in steps: elements start, start + step, ... of an axis of `full` elements that lie `stride`
// apart.
struct Atom {
  std::int64_t extent = 1;
  std::int64_t stride = 1;  // in the source, of one element of the full axis
  std::int64_t full = 1, start = 0, step = 1;
  bool batch = false;  // the batch itself: nothing of the source
  bool whole() const { return extent == full && start == 0 && step == 1; }
};

struct View {
  Endpoint source;
  Shape shape;                          // of one sample of the source
  std::vector<std::vector<Atom>> axes;  // of the ONNX value; an axis of extent 1 may have no atom
  std::vector<Atom> dropped;            // of axes that an index took away: one element each
  double factor = 1;                    // what all is multiplied with

  Extents extents() const;  // of the ONNX value, with kBatch
  bool hasBatch() const;
  std::int64_t batchAxis() const;  // -1 where there is none
  // Of one sample: every axis without the batch as one extent; what shares an axis with the batch stands by itself.
  Shape sample() const;
  // The axis of sample() that an axis of the ONNX value is; nothing for one that holds the batch.
  std::optional<std::int64_t> sampleAxis(std::size_t axis) const;
};

// Both throw Error(badProject) where the sample has other axes.
// What a node gives, as the ONNX value of these extents: kBatch stands in one axis alone (or nowhere), the rest is the
// sample.
View plainView(Endpoint source, const Shape& sample, const Extents& extents);
// What a node gives whose sample is that of `like` with other extents: the batch where it is there, groups as they are
// there.
View likeView(Endpoint source, const Shape& sample, const View& like);

// Each answers nothing where no view can say it; then the value has to be drawn first, and plainly viewed it can.
std::optional<View> reshaped(const View& view, const Extents& extents);
std::optional<View> transposed(const View& view, const std::vector<std::int64_t>& axes);
std::optional<View> sliced(const View& view, const Cut& cut);
std::optional<View> picked(const View& view, std::size_t axis, std::int64_t index);  // one element; the axis goes

// How to draw it: reshape the source, cut, transpose, reshape; what is not needed is left out.
struct DrawingSteps {
  std::optional<Shape> shape;
  std::vector<Cut> cuts;
  std::optional<std::vector<std::int64_t>> axes;
  std::optional<Shape> last;
};
DrawingSteps stepsFor(const View& view);

}  // namespace loom::onnx_file
