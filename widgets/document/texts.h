#pragma once
// Words and paths between the engine (UTF-8 in std::string) and Qt.
#include <QString>
#include <filesystem>
#include <string>

namespace loom {

inline QString q(const std::string& text) {
  return QString::fromStdString(text);
}
inline std::filesystem::path toPath(const QString& path) {
  return std::filesystem::path(path.toStdString());
}

}  // namespace loom
