#pragma once
// "Start from data": inputs, output and loss that fit what the training set's columns hold.
#include <string>

#include "widgets/document/project_document.h"

namespace loom {

// One command. Needs known columns of the dataset that training uses.
void fillFromData(ProjectDocument& document, const std::string& network);

}  // namespace loom
