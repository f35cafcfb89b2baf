#pragma once
// Of a library's engines that compute one graph or product alike: which is taken. Each is timed once, on the device
// itself, and what was found is kept in a file by versions, device and what is computed: a run that is repeated takes
// the same engines, hence gives the same bits. One thread; several processes may share the file.
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace loom::cuda {

struct EngineChoiceOptions {
  bool times = false;          // false: the library's favourite is taken, whatever the file says
  std::filesystem::path file;  // empty: nothing is kept
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

// Below the user's cache folder.
std::filesystem::path keptEngines();

struct Engine {
  int place = 0;     // among all that the library puts forward, its favourite first
  std::string name;  // the library's
};

// What a device has for one graph or product.
class Engines {
 public:
  virtual ~Engines() = default;
  // At most so many that can be had, from this place on. Throws Error(device) where there is none.
  virtual std::vector<Engine> offered(int first, int most) = 0;
  // Of one of those offered. Throws Error(device) where it cannot be run.
  virtual double seconds(const Engine& engine) = 0;
  // Waits for the device. Throws Error(device) where it answers nothing any more.
  virtual void expectDevice() = 0;
};

class EngineChoice {
 public:
  // `machine`: device and versions, as a person would write them down.
  EngineChoice(std::string machine, EngineChoiceOptions options);

  // `what`: all that is computed. Throws what offered() throws, and DeviceLost where an engine that was timed broke the
  // device. A file that cannot be read, or is none of ours, is as
  // empty, and is left alone; that it cannot be written is a warning, too. Each is told once.
  Engine choose(const std::string& what, Engines& engines);

 private:
  struct Kept {
    Engine engine;
    std::vector<double> microseconds;  // of all that were timed
  };
  using ByMachine = std::map<std::string, std::map<std::string, Kept>>;
  ByMachine read();
  void keep(const std::string& what, const Kept& found);
  void warn(const std::string& text);
  bool isKnown(const std::string& what, Engines& engines, Engine& engine) const;

  std::string m_machine;
  EngineChoiceOptions m_options;
  std::map<std::string, Kept> m_kept;  // of this machine
  bool m_foreign = false;              // the file is somebody else's
  bool m_warned = false;
};

}  // namespace loom::cuda
