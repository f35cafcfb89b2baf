#pragma once
// The left side of the Network page: the layers to choose from, or the outline of what is drawn; a switch in its head.
#include <QWidget>

class QStackedWidget;

namespace loom {

class LayerPalette;
class OutlinePanel;
class ProjectDocument;
class SegmentedControl;

class NetworkSide : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkSide(ProjectDocument& document, QWidget* parent = nullptr);

  LayerPalette& palette() const { return *m_palette; }
  OutlinePanel& outline() const { return *m_outline; }
  SegmentedControl& choice() const { return *m_choice; }
  bool showsOutline() const;
  void showOutline(bool shown);
  void focusSearch();  // of whichever is shown

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  SegmentedControl* m_choice;
  QStackedWidget* m_stack;
  LayerPalette* m_palette;
  OutlinePanel* m_outline;
};

}  // namespace loom
