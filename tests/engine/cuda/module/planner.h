#pragma once
// A device that plans graphs as one of these would, and has no memory and runs nothing.
#include <map>
#include <memory>
#include <string>

#include "engine/base/error.h"
#include "engine/cuda/call_keys.h"
#include "engine/cuda/module_device.h"
#include "tests/engine/cuda/module/known_devices.h"

namespace loom::cuda {

// Of a graph: there is an engine; there is none; or there may be one, which a driver must be asked about.
enum class Answer { yes, no, unknown };

class Planner final : public Device {
 public:
  struct Asked {
    DnnGraph graph;
    Answer answer = Answer::yes;
    std::shared_ptr<const DnnPlan> plan;
    std::string refusal;
  };

  explicit Planner(const KnownDevice& device) : m_device(device), m_properties(device.properties()) {}

  const std::map<std::string, Asked>& asked() const { return m_asked; }  // each graph once

  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t workspaceLimit) override {
    const auto [place, isNew] = m_asked.try_emplace(keyOf(graph));
    Asked& asked = place->second;
    if (isNew) {
      asked.graph = graph;
      try {
        asked.plan = planWithoutDevice(m_properties, graph, workspaceLimit);
      } catch (const Error& error) {
        asked.refusal = error.what();
        // Without a driver cuDNN puts no engine forward that is compiled when it is asked for, or refuses them one by
        // one; those that ask for clusters of blocks would ask the driver how many it has room for.
        const auto says = [&](const char* text) { return asked.refusal.find(text) != std::string::npos; };
        const bool needsDriver =
            says("(of 0 that") || !says(" 0 cannot be made without a driver") || says("cga_count == 0");
        asked.answer = needsDriver ? Answer::unknown : Answer::no;
      }
    }
    if (!asked.plan) throw Error(ErrorCode::device, asked.refusal);
    return asked.plan;
  }

  DeviceFacts facts() const override {
    const auto bytes = static_cast<std::size_t>(m_device.memoryBytes);
    return {m_device.name, m_device.computeCapability, m_device.multiprocessors, bytes, bytes};
  }
  std::byte* allocate(std::size_t, std::string_view) override { none(); }
  void release(std::byte*) noexcept override {}
  std::byte* allocatePinned(std::size_t) override { none(); }
  void releasePinned(std::byte*) noexcept override {}
  void enqueue(Stream, const Call&, std::span<const Access>, std::string_view) override { none(); }
  void upload(Stream, const std::byte*, std::byte*, std::size_t) override { none(); }
  void download(Stream, const std::byte*, std::byte*, std::size_t) override { none(); }
  std::unique_ptr<Event> makeEvent() override { none(); }
  void record(Stream, Event&) override { none(); }
  void wait(Stream, const Event&) override { none(); }
  void synchronise(const Event&) override { none(); }
  void synchronise(Stream) override { none(); }
  void beginCapture(Stream) override { none(); }
  std::unique_ptr<Graph> endCapture(Stream) override { none(); }
  void launch(const Graph&, Stream) override { none(); }

 private:
  [[noreturn]] static void none() { throwError(ErrorCode::internal, "there is no device"); }

  KnownDevice m_device;
  std::string m_properties;
  std::map<std::string, Asked> m_asked;
};

}  // namespace loom::cuda
