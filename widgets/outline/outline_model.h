#pragma once
// Everything that is drawn as a tree: network > groups and uses of units > nodes. Below a use stands what its unit
// holds, so one node of a unit has a row for each way that leads to it. Follows the document; a row that stays keeps
// its index, so what is open and what is selected in a view stays too. GUI thread only.
#include <QAbstractItemModel>
#include <QPointer>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "widgets/document/project_document.h"

namespace loom {

class OutlineModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum class Kind { drawing, group, use, node };
  enum Role {
    detailRole = Qt::UserRole,  // the type, "folded", a drawing's number of nodes
    chipRole,                   // "×3"
    iconRole,
    categoryRole,
    tintRole,   // a group's colour as the file has it
    faultRole,  // one word: the field, else "fault"; empty = sound
    faultSentenceRole,
    isErrorRole,
  };
  // False: nothing is followed until it is seen again.
  void setSeen(bool seen);
  // What a row stands for: `id` is empty for a drawing.
  struct Thing {
    Kind kind = Kind::drawing;
    std::string drawing, id;
    bool operator==(const Thing&) const = default;
  };

  explicit OutlineModel(ProjectDocument& document, QObject* parent = nullptr);
  ~OutlineModel() override;

  Thing thing(const QModelIndex& index) const;
  // The row of a node or group of a drawing that is a root of the tree, invalid where there is none.
  QModelIndex find(const std::string& drawing, const std::string& id) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& = {}) const override { return 1; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;  // renames
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  // A node dragged onto a group goes into it, onto its network out of all groups.
  Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  bool canDropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                       const QModelIndex& parent) const override;
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                    const QModelIndex& parent) override;

 Q_SIGNALS:
  void refused(const QString& why);  // a name that cannot be

 private:
  struct Item;
  void refresh();
  void readFaults();
  std::unique_ptr<Item> build() const;
  void fill(Item& parent, const Network& drawing, const std::vector<std::string>& around) const;
  void take(Item& here, Item& now, const QModelIndex& at);
  Item* item(const QModelIndex& index) const;
  QModelIndex indexOf(const Item& item) const;

  struct Fault {
    QString word, sentence;
    bool error = false;
  };

  ProjectDocument& m_document;
  std::unique_ptr<Item> m_root;
  std::map<std::pair<std::string, std::string>, Fault> m_faults;  // by drawing and node, as they were told last
  bool m_seen = true, m_stale = false, m_faultsStale = true;
};

}  // namespace loom
