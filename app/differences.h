#pragma once
// Which of many named values are not the same with all who have them (settings of runs, nodes of their drawings), kept
// as owners come and go: an owner costs what it has, never what the others have.
#include <QString>
#include <QStringList>
#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

struct NamedValue {
  std::string name;
  std::string text;  // one text for values that mean the same: 1 and 1.0
  bool isNumber = false;
  bool isGiven = true;  // somebody wrote it; a default alone makes no difference to be told
};
using NamedValues = std::vector<NamedValue>;  // each name once

// "0.1", "\"LARS\"": what stands for a value.
std::string comparableText(const Json& value);

class Differences {
 public:
  void add(const NamedValues& values);
  void remove(const NamedValues& values);
  void clear();
  int owners() const { return m_owners; }

  // Names that somebody gave and that not all owners have alike, in the order in which they were first seen.
  std::vector<std::string> names() const;
  bool differs(const std::string& name) const;
  bool isMissingSomewhere(const std::string& name) const;
  bool isNumber(const std::string& name) const;                   // with all who have it
  std::vector<std::string> all() const;                           // every name
  std::vector<std::string> texts(const std::string& name) const;  // its values

 private:
  struct Known {
    std::int64_t order = 0;
    int owners = 0, given = 0, words = 0;
    std::map<std::string, int> texts;
  };
  bool differs(const Known& known) const;

  std::map<std::string, Known> m_known;
  std::int64_t m_next = 0;
  int m_owners = 0;
};

}  // namespace loom
