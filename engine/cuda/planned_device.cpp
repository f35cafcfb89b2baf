#include "engine/cuda/planned_device.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom::cuda {
namespace {

bool isUnknown(const DnnGraph& graph) {
  const auto* const convolution = std::get_if<DnnConvolution>(&graph.operations.front());
  if (convolution == nullptr) return false;
  const auto typeOf = [&](int id) {
    return std::find_if(graph.tensors.begin(), graph.tensors.end(), [&](const DnnTensor& one) { return one.id == id; })
        ->type;
  };
  if (typeOf(convolution->image) == DataType::f32) return graph.operations.size() > 1 && !graph.tf32;
  return convolution->kind == DnnConvolution::Kind::weightGradient && typeOf(convolution->weight) == DataType::f32;
}

// cuDNN's engines copy what they compute with into a workspace: its largest known (206 MB, of ResNet-50's first
// convolution on 256 images) is the image with its 3 channels filled up to 8. So as much is counted as all tensors of
// the graph take with channels filled up, and at most what an engine may have.
std::size_t mostWorkspace(const DnnGraph& graph, std::size_t limit) {
  constexpr std::int64_t kChannels = 8;
  double bytes = 0;
  for (const DnnTensor& one : graph.tensors) {
    if (one.isVirtual) continue;
    double elements = static_cast<double>(bytesOf(one.type));
    for (std::size_t axis = 0; axis < one.extents.size(); ++axis) {
      const std::int64_t extent = one.extents[axis];
      elements *= static_cast<double>(axis == 1 ? (extent + kChannels - 1) / kChannels * kChannels : extent);
    }
    bytes += elements;
  }
  return bytes < static_cast<double>(limit) ? static_cast<std::size_t>(bytes) : limit;
}

struct AssumedPlan final : DnnPlan {
  explicit AssumedPlan(std::size_t workspace) {
    name = "assumed";
    workspaceBytes = workspace;
  }
};

class PlannedDevice final : public Device {
 public:
  explicit PlannedDevice(DeviceFacts facts) : m_facts(std::move(facts)) {}

  DeviceFacts facts() const override { return m_facts; }
  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t workspaceLimit) override {
    if (isUnknown(graph)) throwError(ErrorCode::device, "no engine of cuDNN is known to compute it");
    return std::make_shared<AssumedPlan>(mostWorkspace(graph, workspaceLimit));
  }

  std::byte* allocate(std::size_t, std::string_view) override { notHere(); }
  void release(std::byte*) noexcept override {}
  std::byte* allocatePinned(std::size_t) override { notHere(); }
  void releasePinned(std::byte*) noexcept override {}
  void enqueue(Stream, const Call&, std::span<const Access>, std::string_view) override { notHere(); }
  void upload(Stream, const std::byte*, std::byte*, std::size_t) override { notHere(); }
  void download(Stream, const std::byte*, std::byte*, std::size_t) override { notHere(); }
  std::unique_ptr<Event> makeEvent() override { notHere(); }
  void record(Stream, Event&) override { notHere(); }
  void wait(Stream, const Event&) override { notHere(); }
  void synchronise(const Event&) override { notHere(); }
  void synchronise(Stream) override { notHere(); }
  void beginCapture(Stream) override { notHere(); }
  std::unique_ptr<Graph> endCapture(Stream) override { notHere(); }
  void launch(const Graph&, Stream) override { notHere(); }

 private:
  [[noreturn]] void notHere() const {
    throwError(ErrorCode::internal, "a {} is planned for, and not here", m_facts.name);
  }
  DeviceFacts m_facts;
};

}  // namespace

std::shared_ptr<Device> makePlannedDevice(DeviceFacts facts) {
  return std::make_shared<PlannedDevice>(std::move(facts));
}

}  // namespace loom::cuda
