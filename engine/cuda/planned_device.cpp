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

struct AssumedPlan final : DnnPlan {
  AssumedPlan() { name = "assumed"; }
};

class PlannedDevice final : public Device {
 public:
  explicit PlannedDevice(DeviceFacts facts) : m_facts(std::move(facts)) {}

  DeviceFacts facts() const override { return m_facts; }
  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t) override {
    if (isUnknown(graph)) throwError(ErrorCode::device, "no engine of cuDNN is known to compute it");
    return std::make_shared<AssumedPlan>();
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
