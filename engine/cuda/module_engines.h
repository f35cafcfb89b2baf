#pragma once
// Plans and engines of the real device: what loom_cuda.so answers, as values that end by themselves.
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/calls.h"
#include "engine/cuda/engine_choice.h"
#include "engine/cuda/functions.h"

namespace loom::cuda {

// Of the calling thread's last failure; what the module is linked with.
std::string wordsOf(const LoomCudaFunctions& calls);
std::string librariesOf(const LoomCudaFunctions& calls);

class ModulePlan final : public DnnPlan {
 public:
  ModulePlan(const LoomCudaFunctions& calls, const LoomDnnPlan& made);
  ~ModulePlan() override;
  void* plan() const { return m_plan; }
  int place() const { return m_place; }

 private:
  const LoomCudaFunctions& m_calls;
  void* m_plan;
  int m_place;
};

// Of a device with these properties, none of which need be there.
std::shared_ptr<const DnnPlan> planFor(const LoomCudaFunctions& calls, const std::string& properties,
                                       const DnnGraph& graph, std::size_t workspaceLimit);

// What cuDNN has for a graph, as plans that are made when they are asked for.
class PlainGraph;
class GraphEngines final : public Engines {
 public:
  GraphEngines(const LoomCudaFunctions& calls, void* device, const DnnGraph& graph, std::size_t workspaceLimit);
  ~GraphEngines() override;
  std::vector<Engine> offered(int first, int most) override;
  double seconds(const Engine& engine) override;
  void expectDevice() override;
  std::shared_ptr<const ModulePlan> plan(const Engine& engine) const;  // of those offered last

 private:
  const LoomCudaFunctions& m_calls;
  void* m_device;
  std::unique_ptr<PlainGraph> m_graph;
  std::size_t m_workspaceLimit;
  std::vector<std::shared_ptr<const ModulePlan>> m_plans;
};

// What cuBLASLt has for a product.
class ProductEngines final : public Engines {
 public:
  ProductEngines(const LoomCudaFunctions& calls, void* device, const MatmulCall& call)
      : m_calls(calls), m_device(device), m_call(call) {}
  std::vector<Engine> offered(int first, int most) override;
  double seconds(const Engine& engine) override;
  void expectDevice() override;

 private:
  const LoomCudaFunctions& m_calls;
  void* m_device;
  const MatmulCall& m_call;
};

}  // namespace loom::cuda
