#pragma once
// "Add a layer": a search field over a list, at the pointer. Finds by name, alias and summary (Dense finds Linear).
// Enter or a click takes the row; Esc or a click elsewhere closes.
#include <QFrame>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/shape.h"
#include "engine/catalogue/entry.h"

class QListWidget;

namespace loom {

class SearchField;
struct LayerDefinition;

class AddMenu : public QFrame {
  Q_OBJECT
 public:
  explicit AddMenu(QWidget* canvas);

  // `likely` are ids that come first while nothing is typed.
  // Layers, and units as entries of their own: what is chosen is told by its id.
  void popup(QPoint at, std::vector<const Entry*> entries, const std::vector<std::string>& likely,
             std::function<void(const std::string&)> chosen);
  bool isOpen() const { return isVisible(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill();
  void take();
  void dismiss();

  SearchField* m_search;
  QListWidget* m_list;
  std::vector<const Entry*> m_entries;
  std::vector<std::string> m_likely;
  std::function<void(const std::string&)> m_chosen;
};

// Whether a new layer of this kind takes such a tensor, as far as its rule can tell before it is set up.
bool mayFollow(const LayerDefinition& layer, const Shape& shape);
// What most often follows a layer of this category, best first.
std::vector<std::string> likelyAfter(const std::string& category);

}  // namespace loom
