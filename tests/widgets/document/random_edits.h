#pragma once
// Random edits of a project, of every kind that the document offers to a person, one after the other; counts which of
// them did something.
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "widgets/document/project_document.h"

namespace loom {

class RandomEdits {
 public:
  RandomEdits(ProjectDocument& document, unsigned seed);

  void step();  // one edit of any kind; it may be refused, as a person's may
  std::size_t below(std::size_t count) { return count == 0 ? 0 : m_random() % count; }
  const std::map<std::string, int>& done() const { return m_done; }  // by kind, those that never did anything too

 private:
  void add(const char* kind, std::function<void(const Network&)> edit) { m_kinds.emplace_back(kind, std::move(edit)); }
  void nodes();
  void wires();
  void drawings();
  void units();
  void groups();
  void training();

  bool chance(std::size_t of) { return below(of) == 0; }
  const Network& any();
  std::string node(const Network& drawing);
  std::string useIn(const Network& drawing);  // a node that uses a unit; empty where there is none
  std::vector<std::string> some(const Network& drawing);
  std::vector<std::string> chain(const Network& drawing);  // behind each other along wires
  std::string unit();
  std::string group(const Network& drawing);
  std::string layer();
  std::string name(const char* stem) { return stem + std::to_string(below(1000)); }
  QPointF place();
  Edge wire(const Network& drawing);
  Json repeat();
  UpdateSpec update();

  ProjectDocument& m_document;
  std::mt19937 m_random;
  std::vector<std::pair<std::string, std::function<void(const Network&)>>> m_kinds;
  std::map<std::string, int> m_done;
  int m_changes = 0;
};

}  // namespace loom
