#pragma once
// The agent's verb `tensor`: a look at what flows along a wire (engine/training/tensor_probe.h), for the editor.
//
//   {"verb": "tensor", "project": "7", "folder": "/where/relative/paths/begin",
//    "drawing": "main", "from": ["conv1", "output"], "to": "relu1",
//    "use": ["main", "stage1"]?, "run": "/folder/of/the/run"?, "sample": 0?, "for": "card"?} + the project's text?
// The text comes along where the agent has not had it under that name: it then keeps it for further questions. A
// question is dropped where a newer one with the same "for" has come. Answered by
//   {"tensor": TensorSummary, "network", "pin": "stage1/0/conv_a", "dataset", "sample", "samples",
//    "weights": {"trained", "step", "matched", "parameters"}} + pixels
// and before it, while a dataset is read for the first time, {"tensor": "reading", "dataset", "done", "total"} is told.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/agent/agent.h"
#include "engine/training/tensor_probe.h"

namespace loom {

class Backend;

class TensorService : public AgentService {
 public:
  TensorService();
  ~TensorService() override;
  bool knows(const std::string& verb) const override { return verb == "tensor"; }
  void heard(const Json& request) override;
  Json perform(const Json& request, const std::string& bytes, std::string& more, const Tell& tell) override;
  void stop() override { m_stop = true; }

 private:
  bool isOld(const Json& request);
  std::unique_ptr<Backend> m_backend;  // made when it is first asked
  std::unique_ptr<TensorProbe> m_probe;
  std::string m_project;  // name of the text that the probe has
  std::atomic<bool> m_stop{false};
  std::mutex m_mutex;
  std::map<std::string, std::int64_t> m_newest;  // id of the newest question, by what it is for
};

}  // namespace loom
