#pragma once
// Files of other tools, read beside the window's thread: a project that an importer takes, or weights laid over a
// network. One at a time.
#include <QObject>
#include <QString>
#include <memory>
#include <optional>

#include "engine/exchange/importer.h"
#include "widgets/document/background.h"

namespace loom {

// What a file of weights would give a network.
struct LaidOver {
  QString file;
  Json match;  // toJson(WeightMatch): "matched", "shape_differs", "missing", "left_over"
};

class ProjectImport : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  ~ProjectImport() override { cancel(); }

  // Whether an importer takes the file; or whether it is a .safetensors, for `layOver`. Reads some kilobytes.
  static bool takes(const QString& file);
  static bool holdsWeights(const QString& file);
  // "Projects of other tools (*.sdcproj *.onnx)", for a dialogue.
  static QString filter();

  void start(const QString& file);
  void layOver(const QString& file, Project project, std::string network);
  void cancel();
  bool running() const { return m_running.has_value(); }

 Q_SIGNALS:
  void progressed(double share);
  void finished(const QString& file, std::shared_ptr<const loom::Imported> imported);
  void laidOver(const loom::LaidOver& result);
  void failed(const QString& file, const QString& sentence);

 private:
  std::optional<Background<ProjectImport>> m_running;
  std::shared_ptr<std::atomic<bool>> m_stop;
};

}  // namespace loom
