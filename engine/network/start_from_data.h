#pragma once
// "Start from data": from a stranger's table, and what shall be predicted of it, to a project that trains: steps of
// preparation, a part that is held out, a network that fits, how long.
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/data/columns/media_facts.h"
#include "engine/data/columns/suggestion.h"
#include "engine/network/project.h"

namespace loom {

struct StartFacts {
  std::filesystem::path csv;
  TableFacts table;
  std::map<std::string, MediaFacts> media;  // by column
  std::string target;                       // that the dataset says is to be predicted; empty where it says nothing
};

struct StartChoice {
  std::string target;            // column; empty: the likeliest; where nothing can be predicted, the samples themselves
  std::optional<TargetKind> as;  // of whole numbers of few values; empty: as classes
  std::map<std::string, std::string> dateOrders;  // of columns that allow several: "dmy" or "mdy"
};

// Reads all of the dataset's CSV as the project says that it is read. Throws Error(missingFile, badData, stopped).
StartFacts factsToStart(const DatasetSpec& dataset, const std::filesystem::path& csv,
                        const std::function<bool()>& stop = {});

// Whether the column names one number of a vector (x__3), which is not predicted by itself.
bool isElement(const std::string& column);

// `project` with what is needed to train `network` on `dataset`:
// - steps: all number columns joined into one vector, what suggestTable() says; a person's own steps stay in front of
//   them, and what they do already is not done again; of steps that an earlier start made nothing stays
// - a fifth of the rows held out for validation, of each class alike, where the project has no validation set
// - nodes behind those that are drawn: Inputs, layers, loss, for classes the accuracy; they have no places yet
// - batch and epochs for the number of rows, where the settings say nothing of them.
// Measures on the training part how many numbers the vector has: reads the file once more. Throws Error(badProject,
// badData, badArgument).
Project startFromData(Project project, const std::string& network, const std::string& dataset, const StartFacts& facts,
                      const StartChoice& choice);

// The steps of the first point alone.
struct StartSteps {
  std::vector<Json> prepare;
  TargetChoice target;  // without a column where there is none
  std::string input;    // the vector; empty where there is none
  std::string output;   // the variable that is predicted
  std::vector<std::string> media;
  std::map<std::string, std::int64_t> vectors;  // that the file has already, x__0 ...: how many numbers
  std::vector<std::string> leftOut;             // "id: every row has another word"
};
StartSteps stepsToStart(const std::vector<Json>& existing, const StartFacts& facts, const StartChoice& choice);

// The third point alone: `shapes` of Inputs after preparation; the target's among them. Throws Error(badArgument)
// where there is nothing to compute with.
struct StartInput {
  std::string variable;
  VariableKind kind = VariableKind::vector;
  Shape shape;
};
void drawFromData(Network& network, const std::vector<StartInput>& inputs, const TargetChoice& target,
                  const StartInput& output);

}  // namespace loom
