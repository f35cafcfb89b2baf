#pragma once
// What everything choosable says about itself: layers, optimizers, schedules, metrics, preparation steps, and the
// groups of settings of `training`. The palette, the property form, validation, the file's keys and the help follow
// from these entries and hold no second copy of any default.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"

namespace loom {

enum class FieldType {
  integer,   // JSON integer
  real,      // JSON number
  boolean,   // JSON boolean
  text,      // JSON string
  choice,    // JSON string, one of `choices`
  integers,  // JSON array of integers; a single integer means the same for every place
  reals,     // JSON array of numbers
  texts,     // JSON array of strings (name patterns, say); a single string is a list of one
  shape,     // JSON array of positive integers: extents of one sample, C x H x W
  file,      // JSON string: a path, relative to the project file
};

struct Choice {
  std::string id;     // in the file
  std::string label;  // in the interface
  std::string help;
};

// Inclusive bounds. Outside the hard range is an error, outside the comfortable one a warning that keeps the value.
struct Range {
  double low;
  double high;
};

struct Field {
  std::string key;    // in the file: snake_case
  std::string label;  // "Learning rate"
  std::string help;   // one or two sentences
  FieldType type;
  Json defaultValue;          // null = required, or (with `optional`) absent
  std::optional<Range> hard;  // for each number of a list too
  std::optional<Range> comfortable;
  std::string unit;  // "epochs", "samples"; empty = none
  std::vector<Choice> choices;
  int count = 0;           // integers, reals: how many; 0 = any number
  bool optional = false;   // may be absent (null) and then means what `help` says
  bool important = false;  // stands on the node's second line; at most three an entry
  std::string absent;    // of an optional one, in a word: what holds where nothing is given ("measured"); empty = none
  std::string onlyWhen;  // "padding=explicit": shown and read only while another choice or boolean has this value
};

enum class PortType { values, labels, indices };

struct Port {
  std::string key;  // "input", "target", "output"
  std::string label;
  std::string help;
  PortType type = PortType::values;
  bool several = false;  // an input that takes two and more wires (Add, Concatenate), in the order of the edges
  bool optional = false;
};

// A name of other arithmetic: a search finds the entry by it, a file that uses it is refused with the advice.
struct Relative {
  std::string name;
  std::string advice;  // after the name: "is LARS with ...: write ..."
};

struct Entry {
  std::string id;                    // "Convolution": in the file, the palette, the messages
  std::string label;                 // usually the id
  std::string category;              // a key of tokens.json "layers" for layers ("convolution", ...); free for others
  std::string icon;                  // name of an SVG in resources/icons without its ending
  std::vector<std::string> aliases;  // other names of exactly this that a person may type: "Dense", "Affine"
  std::vector<Relative> relatives;
  std::string summary;  // one sentence
  std::string help;     // what it computes, with the formula and its source
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Field> fields;

  const Field* field(std::string_view key) const;
};

// The values of an entry's fields: what differs from the default is stored, everything else answered from the entry.
// Throws Error(internal) for a key that the entry lacks, Error(badProject) for a value of the wrong type.
class Values {
 public:
  Values(const Entry& entry, const Json& given) : m_entry(&entry), m_given(&given) {}
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::string text(std::string_view key) const;  // choice, text, file
  // A single integer is repeated `count` times.
  std::vector<std::int64_t> integers(std::string_view key, int count = 0) const;
  std::vector<double> reals(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;  // none where an optional one is absent
  bool has(std::string_view key) const;                        // given, or with a default
  const Json& json(std::string_view key) const;
  const Entry& entry() const { return *m_entry; }

 private:
  const Entry* m_entry;
  const Json* m_given;
};

// Whether `onlyWhen` of the field holds for these values; true where the other field is not the entry's.
bool isRead(const Entry& entry, const Field& field, const Json& given);

struct FieldProblem {
  enum class Severity { error, warning } severity;
  std::string key;
  std::string message;         // names the value, what is wrong and what would be right
  std::optional<Json> remedy;  // a value that would be right
};

// Every problem of `given` (an object of field values) against the entry: unknown keys (with the nearest known one),
// wrong types, out of range, not a choice, missing. `ignored` are keys that mean something to the caller ("id",
// "layer", "at").
std::vector<FieldProblem> validate(const Entry& entry, const Json& given, const std::vector<std::string>& ignored = {});

// A sentence of validate() by the fields' labels: "'base_axis' is 9" becomes "Base axis is 9".
std::string inLabels(std::string message, std::span<const Field> fields);

// `given` without what equals its default, in the entry's order of fields: as the file is written.
Json withoutDefaults(const Entry& entry, const Json& given);

// Search as the palette and Ctrl+K do it: id, label, aliases, summary; best first; every entry for an empty query.
std::vector<const Entry*> search(const std::vector<const Entry*>& entries, std::string_view query);

// The nearest of `known` by edit distance, empty when none is near: "'Convolutoin': did you mean 'Convolution'?"
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// The same for keys, which people also shorten and lengthen: "lr" for "learning_rate", "batch_size" for "batch". Of a
// path ("optimizer.learning_rate") the last part counts. A slip comes first.
std::string nearestKey(std::string_view key, const std::vector<std::string>& known);
// "unknown key 'lr': did you mean 'optimizer.learning_rate'?" Names all that are known only where they are few;
// `elsewhere` are keys of other places, by their path.
std::string unknownKey(std::string_view key, const std::vector<std::string>& known,
                       const std::vector<std::string>& elsewhere = {});

// The entry as `loom catalogue --json` prints it.
Json toJson(const Entry& entry);

}  // namespace loom
