#pragma once
// What a person does with layers of their own on the Network page: save a unit to them, bring one up to date, rename,
// remove. The commands, the palette's rows and its menu.
#include <QObject>
#include <QPointer>

#include "app/page.h"

namespace loom {

class LayerPalette;
class NetworkView;
class OwnLayers;
class Popover;
struct OwnLayer;

class LibraryActions : public QObject {
  Q_OBJECT

 public:
  LibraryActions(AppContext& context, NetworkView& view, LayerPalette& palette, QObject* page);

  void refreshPalette();

 private:
  void addCommands();
  void showMenu(const QString& layer, QPoint at);
  void save(const std::string& unit);
  void update(const std::string& unit);
  void rename(const std::string& layer);
  void remove(const std::string& layer);
  void tellOutdated();
  std::string unitMeant(const QJsonObject& arguments) const;   // the one use that is selected, or the unit in front
  std::string layerMeant(const QJsonObject& arguments) const;  // of the palette's current row
  const OwnLayer* newer(
      const std::string& unit) const;  // what the library has of it and the project not; null where they agree

  AppContext& m_context;
  ProjectDocument& m_document;
  OwnLayers& m_library;
  NetworkView& m_view;
  LayerPalette& m_palette;
  QPointer<Popover> m_card;
};

}  // namespace loom
