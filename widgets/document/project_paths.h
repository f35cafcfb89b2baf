#pragma once
// The files that a project names: CSVs of its datasets, the weights it begins with. In memory every path is absolute,
// so that neither a step back nor another place of the project's file makes it mean another file. In the file a path is
// relative where the folder and its content may move together: inside of the project's folder, right beside it, and
// where the file had it so. Elsewhere it is absolute.
#include <QString>
#include <string>

#include "engine/network/project.h"

namespace loom {

// One path as the memory holds it; `folder` is that of the project's file, empty where there is none.
std::string absolutePath(const std::string& path, const QString& folder);
void makePathsAbsolute(Project& project, const QString& folder);
// What a file in `folder` holds; with an empty `folder` every path stays absolute. `before` is what the file held last,
// in `beforeFolder`: a path that it named relatively stays relative however far it leads.
std::string projectText(const Project& project, const QString& folder, const std::string& before,
                        const QString& beforeFolder);

}  // namespace loom
