#pragma once
// Network: what flows where, and is it sound? Palette | bar, canvas, strip | inspector. Connects them and decides
// little.
#include <QPointer>

#include "app/page.h"
#include "widgets/canvas/network_scene.h"

namespace loom {

class ArgumentChips;
class DataStart;
class Inspector;
class LayerPalette;
class LibraryActions;
class NetworkBar;
class NetworkSide;
class NetworkStrip;
class NetworkView;
class WirePreview;

class NetworkPage : public Page {
  Q_OBJECT
 public:
  explicit NetworkPage(AppContext& context, QWidget* parent = nullptr);
  ~NetworkPage() override;

  void activated() override;
  bool show(const Place& place) override;
  using QWidget::show;
  QList<SearchHit> search(const QString& query) override;
  void toggleLeftPanel() override;
  void toggleInspector() override;
  bool help() override;
  QList<KeyHint> keyHints() const override;
  QList<QWidget*> areas() const override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;

  NetworkView& view() const { return *m_view; }
  NetworkScene& scene() const { return *m_scene; }
  LayerPalette& palette() const { return *m_palette; }
  Inspector& inspector() const { return *m_inspector; }
  NetworkBar& bar() const { return *m_bar; }
  NetworkSide& side() const { return *m_side; }
  ArgumentChips& arguments() const { return *m_arguments; }
  WirePreview& wirePreview() const { return *m_wirePreview; }

 Q_SIGNALS:
  void startFromDataRequested();
  void openSampleRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void placePanels();
  void makeActions();
  void refreshStatus();
  void startFromData();
  void openPalette();
  void closeDrawers();
  void showOutline(bool shown);
  void refreshUnits();
  void tellUnread();  // texts in fields of nodes that are no value: training would take others than one reads
  void followOutline();
  void openTab(const std::string& drawing);

  ProjectDocument& m_document;
  bool m_toldUnread = false;
  NetworkScene* m_scene;
  NetworkView* m_view;
  NetworkSide* m_side;
  LayerPalette* m_palette;
  QWidget* m_argumentRow;
  ArgumentChips* m_arguments;
  Inspector* m_inspector;
  NetworkBar* m_bar;
  NetworkStrip* m_strip;
  LibraryActions* m_library = nullptr;  // null where there are no layers of one's own
  std::unique_ptr<WirePreview> m_wirePreview;
  DataStart* m_dataStart = nullptr;
  QAction* m_dim = nullptr;
  std::vector<Entry> m_units;                             // as the palette shows them
  bool m_paletteShown = true, m_inspectorShown = true;    // wide
  bool m_paletteDrawn = false, m_inspectorDrawn = false;  // narrow: over the canvas
  bool m_narrow = false;
  bool m_fitted = false;
};

}  // namespace loom
