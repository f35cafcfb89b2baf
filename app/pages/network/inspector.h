#pragma once
// What is selected on the canvas, as a form built from the catalogue: a node, several nodes (the fields they share), a
// wire, or nothing (the network's totals). Every keystroke is an edit of the document; the document's answer comes back
// as shapes, costs and problems.
#include <QWidget>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalogue/entry.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/controls/symbols.h"

class QLabel;
class QLineEdit;
class QScrollArea;
class QVBoxLayout;

namespace loom {

class Button;
class WeightsLine;
class ChoiceField;
class CostTable;
class LayerTile;
class LinkRows;
class ProblemLines;
class PropertyForm;
class TensorFace;

class Inspector : public QWidget {
  Q_OBJECT
 public:
  explicit Inspector(NetworkScene& scene, QWidget* parent = nullptr);
  ~Inspector() override;

  // The canvas whose selection is shown: the page's, or that of a unit opened in place. Must outlive this or the next
  // call.
  void setScene(NetworkScene& scene);
  void focusFirstField();
  void focusName();
  bool focusField(const std::string& key);
  bool toggleHelp();  // what the layer computes; false where nothing with help is selected
  PropertyForm& form() const { return *m_form; }
  // Of the wire that is shown: what flows there. Filled by whoever knows.
  std::optional<std::pair<NetworkScene*, Edge>> wire() const;
  TensorFace& tensor() const { return *m_tensor; }
  void setWeights(const QString& words, bool others);  // which computed it, and what else a click offers
  QLineEdit& name() const { return *m_name; }

 Q_SIGNALS:
  void nodeWanted(const QString& id);  // a connection was clicked
  void unitWanted();                   // of the selection, as Ctrl+G
  void groupWanted();
  void inPlaceWanted();  // the selected unit, as Space
  void leaving();        // Esc: the keyboard goes back to the canvas
  void turned();         // it shows another thing
  void otherWeightsWanted(QWidget* below);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Subject { nothing, node, nodes, wire, group, comment };

  void follow();
  void turn();     // another subject
  void refresh();  // the same subject, new facts
  void showNode(const Node& node);
  void showNodes(const std::vector<std::string>& ids);
  void showWire(const Edge& edge);
  void showNetwork();
  void showGroup(const Group& group);
  void showComment(const Comment& comment);
  void showSum(const std::vector<std::string>& ids);
  // What fields of a node may name, and the values with every expression computed (left out where it has no value yet).
  Symbols symbolsFor(const std::string& node) const;
  Json computedValues(const Entry& entry, const Json& given) const;
  void showEntry(const Entry& entry, const Json& given, const QString& identity);
  void refreshForm();
  void refreshShares(const Node& node);
  void rename();
  void restyle();
  void edited(const QString& key, const Json& value);

  NetworkScene* m_scene;
  Subject m_subject = Subject::nothing;
  std::vector<std::string> m_nodes;
  Entry m_common;  // fields that all selected nodes have
  Entry m_made;    // of a unit's use, of a group: made when it is selected
  std::string m_group, m_comment;
  const Entry* m_entry = nullptr;

  QScrollArea* m_scroll;
  LayerTile* m_tile;
  QLineEdit* m_name;
  QLabel *m_subtitle, *m_help, *m_nameProblem, *m_shape, *m_notes;
  Button* m_helpButton;
  PropertyForm* m_form;
  ProblemLines* m_problems;
  QWidget *m_formSection, *m_shapeSection, *m_costSection, *m_linkSection, *m_shareSection;
  QLabel *m_shapeTitle, *m_costTitle;
  ChoiceField* m_shares;
  QStringList m_shareWords;  // as they stand in it
  CostTable* m_costs;
  LinkRows* m_links;
  QWidget* m_tensorSection;
  TensorFace* m_tensor;
  WeightsLine* m_weights;
  QWidget* m_makeSection;
  Button *m_makeUnit, *m_makeGroup, *m_openUnit;
};

}  // namespace loom
