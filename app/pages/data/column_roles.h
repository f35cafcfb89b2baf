#pragma once
// What the columns of a dataset's file are used for: which variable each ends in, which Input takes it, what is
// predicted. Answered from the project, the steps and a preview of what they make.
#include <map>
#include <string>
#include <vector>

#include "app/pages/data/feeds_bar.h"
#include "engine/data/columns/preview.h"
#include "engine/network/project.h"
#include "widgets/table/column_list.h"

namespace loom {

struct RolesRequest {
  const Project& project;
  const DatasetSpec& dataset;  // the one that is trained on
  const std::vector<Json>& prepare;
  const TableFacts& facts;
  const TablePreview* preview = nullptr;                 // null: not known yet, told from the steps' names alone
  const std::map<std::string, Shape>* shapes = nullptr;  // of variables, where they are known
};
struct ColumnRoles {
  std::map<std::string, ColumnMark> marks;       // by column
  std::map<std::string, std::string> variables;  // by column: the variable that it ends in; none where it is left out
  std::vector<std::string> targets;              // columns that are predicted
  std::vector<FeedLine> feeds;
};
ColumnRoles columnRoles(const RolesRequest& request);

// "x" of "x__12".
std::string variableOfName(const std::string& name);
// Columns that could be joined into an Input: those that are used for nothing yet, or for `variable`, numbers behind
// all steps, and not predicted.
std::vector<std::string> joinable(const RolesRequest& request, const ColumnRoles& roles, const std::string& variable);

}  // namespace loom
