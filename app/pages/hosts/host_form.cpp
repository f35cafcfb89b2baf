#include "app/pages/hosts/host_form.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/hosts/host_texts.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/remote/host_lines.h"
#include "widgets/controls/button.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kLabel = 140, kField = 360, kNumber = 110, kLines = 64;

}  // namespace

HostForm::HostForm(AppContext& context, QWidget* parent) : QWidget(parent), m_context(context) {
  setObjectName("host-form");
  m_rows = new QVBoxLayout(this);
  m_rows->setContentsMargins(0, 0, 0, 8);
  m_rows->setSpacing(8);
  m_kind = new SegmentedControl({tr("mpirun over SSH"), tr("Slurm")});
  m_kind->setObjectName("host-kind");
  m_kind->setAccessibleName(tr("Kind"));
  connect(m_kind, &SegmentedControl::currentChanged, this, [this] {
    showKind();
    edited();
  });
  buildFields();
  m_rest = makeLabel("error", {}, nullptr, Wrap::yes);
  m_rest->setObjectName("fault-host");
  m_rest->hide();
  m_rows->addWidget(m_rest);
  auto* foot = new QHBoxLayout;
  auto* done = new Button(tr("Done"), ButtonKind::outlined);
  auto* remove = new Button("delete", tr("Remove host"), ButtonKind::danger);
  remove->setIconColour(Colour::error);
  remove->setObjectName("remove-host");
  foot->addWidget(done);
  foot->addStretch();
  foot->addWidget(remove);
  m_rows->addSpacing(4);
  m_rows->addLayout(foot);
  connect(done, &Button::clicked, this, &HostForm::doneWanted);
  connect(remove, &Button::clicked, this, &HostForm::removeWanted);
}

void HostForm::section(const QString& title, Field::For kind) {
  auto* label = makeLabel("label", title, nullptr, Wrap::yes);
  label->setContentsMargins(0, 8, 0, 0);
  m_rows->addWidget(label);
  Field head;
  head.row = label;
  head.kind = kind;
  m_fields.push_back(std::move(head));
}

HostForm::Field& HostForm::add(const QString& label, const QString& hint, QWidget* editor, Field::For kind) {
  Field field;
  field.kind = kind;
  field.row = new QWidget;
  auto* row = new QHBoxLayout(field.row);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(12);
  auto* name = makeLabel("field", label, nullptr, Wrap::yes);
  name->setFixedWidth(kLabel);
  name->setContentsMargins(0, 5, 0, 0);
  auto* right = new QVBoxLayout;
  right->setSpacing(3);
  right->addWidget(editor, 0, Qt::AlignLeft);
  if (!hint.isEmpty()) right->addWidget(makeLabel("hint", hint, nullptr, Wrap::yes));
  field.fault = makeLabel("error", {}, nullptr, Wrap::yes);
  field.fault->setObjectName("fault-" + editor->objectName());
  field.fault->hide();
  right->addWidget(field.fault);
  row->addWidget(name, 0, Qt::AlignTop);
  row->addLayout(right, 1);
  editor->setAccessibleName(label);
  m_rows->addWidget(field.row);
  m_fields.push_back(std::move(field));
  return m_fields.back();
}

void HostForm::addText(const char* name, const QString& label, const QString& hint, Field::For kind,
                       QString& (*of)(Host&)) {
  auto* line = new QLineEdit;
  line->setObjectName(QLatin1String(name));
  line->setFixedWidth(kField);
  Field& field = add(label, hint, line, kind);
  field.show = [line, of](const Host& host) { line->setText(of(const_cast<Host&>(host))); };
  field.read = [line, of](Host& host) {
    of(host) = line->text().trimmed();
    return QString();
  };
  field.copy = [of](Host& to, const Host& from) { of(to) = of(const_cast<Host&>(from)); };
  connect(line, &QLineEdit::textChanged, this, &HostForm::edited);
  connect(line, &QLineEdit::returnPressed, this, &HostForm::doneWanted);
  if (!m_first) m_first = line;
}

void HostForm::addNumber(const char* name, const QString& label, const QString& hint, Field::For kind,
                         int& (*of)(Host&), bool emptyIsZero) {
  auto* number = new NumberField(NumberField::Kind::integer);
  number->setObjectName(QLatin1String(name));
  number->setFixedWidth(kNumber);
  number->setLimits(0, 1e6);
  Field& field = add(label, hint, number, kind);
  field.show = [number, of, emptyIsZero](const Host& host) {
    const int value = of(const_cast<Host&>(host));
    if (value == 0 && emptyIsZero)
      number->clearValue();
    else
      number->setValue(value);
  };
  field.read = [number, of, emptyIsZero](Host& host) {
    if (number->value())
      of(host) = static_cast<int>(*number->value());
    else if (emptyIsZero && number->text().isEmpty())
      of(host) = 0;
    else
      return number->problem().isEmpty() ? HostForm::tr("a whole number is missing here") : number->problem();
    return QString();
  };
  field.copy = [of](Host& to, const Host& from) { of(to) = of(const_cast<Host&>(from)); };
  connect(number, &NumberField::textChanged, this, &HostForm::edited);
}

void HostForm::addLines(const char* name, const QString& label, const QString& hint, Field::For kind,
                        const std::function<QString(const Host&)>& show,
                        const std::function<void(Host&, const QString&)>& read, Copy copy) {
  auto* text = new QPlainTextEdit;
  text->setProperty("kind", "framed");  // a scroll area has no frame of its own
  text->setObjectName(QLatin1String(name));
  text->setFixedSize(kField, kLines);
  text->setTabChangesFocus(true);
  keepFont(text, FontRole::body, Face::numbers);
  text->setAccessibleName(label);
  Field& field = add(label, hint, text, kind);
  field.show = [text, show](const Host& host) { text->setPlainText(show(host)); };
  field.read = [text, read](Host& host) {
    read(host, text->toPlainText());
    return QString();
  };
  field.copy = std::move(copy);
  connect(text, &QPlainTextEdit::textChanged, this, &HostForm::edited);
}

void HostForm::addWords(const char* name, const QString& label, const QString& hint, Field::For kind,
                        QStringList& (*of)(Host&)) {
  auto* line = new QLineEdit;
  line->setObjectName(QLatin1String(name));
  line->setFixedWidth(kField);
  Field& field = add(label, hint, line, kind);
  field.show = [line, of](const Host& host) { line->setText(joinWords(of(const_cast<Host&>(host)))); };
  field.read = [line, of](Host& host) {
    of(host) = splitWords(line->text());
    return QString();
  };
  field.copy = [of](Host& to, const Host& from) { of(to) = of(const_cast<Host&>(from)); };
  connect(line, &QLineEdit::textChanged, this, &HostForm::edited);
}

void HostForm::addSwitch(const char* name, const QString& label, const QString& text, Field::For kind,
                         bool& (*of)(Host&)) {
  auto* toggle = new Switch(text);
  toggle->setObjectName(QLatin1String(name));
  Field& field = add(label, {}, toggle, kind);
  field.show = [toggle, of](const Host& host) { toggle->setChecked(of(const_cast<Host&>(host))); };
  field.read = [toggle, of](Host& host) {
    of(host) = toggle->isChecked();
    return QString();
  };
  field.copy = [of](Host& to, const Host& from) { of(to) = of(const_cast<Host&>(from)); };
  connect(toggle, &Switch::toggled, this, &HostForm::edited);
}

void HostForm::buildFields() {
  using For = Field::For;
  const auto linesOf = [](const QString& text) {
    QStringList lines = text.split('\n');
    for (QString& each : lines) each = each.trimmed();
    lines.removeAll(QString());
    return lines;
  };
  addText("host-form-name", tr("Name"), {}, For::both, [](Host& host) -> QString& { return host.name; });
  addText("host-form-address", tr("Address"), tr("A host name, an address, or a name of your SSH configuration"),
          For::both, [](Host& host) -> QString& { return host.address; });
  addText("host-form-user", tr("User"), tr("Empty: as the SSH configuration says, else you"), For::both,
          [](Host& host) -> QString& { return host.user; });
  addNumber(
      "host-form-port", tr("Port"), tr("Empty: as the SSH configuration says, else 22"), For::both,
      [](Host& host) -> int& { return host.port; }, true);
  addText("host-form-key", tr("Key"),
          tr("File of a private key, ~/.ssh/cluster; empty: as the SSH configuration says, else the usual ones"),
          For::both, [](Host& host) -> QString& { return host.key; });
  addSwitch("host-form-system-ssh", tr("SSH"), tr("Use the system's ssh: ProxyCommand, FIDO keys, certificates"),
            For::both, [](Host& host) -> bool& { return host.systemSsh; });
  {
    auto* row = new QWidget;
    auto* inner = new QHBoxLayout(row);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->addWidget(m_kind);
    Field& field = add(tr("Kind"), {}, row, For::both);
    field.show = [this](const Host& host) { m_kind->setCurrent(host.kind == HostKind::slurm ? 1 : 0); };
    field.read = [this](Host& host) {
      host.kind = m_kind->current() == 1 ? HostKind::slurm : HostKind::mpirun;
      return QString();
    };
  }
  section(tr("mpirun"), For::mpirun);
  addNumber("host-form-ranks", tr("Ranks"), tr("On the host itself, while no hosts are named below"), For::mpirun,
            [](Host& host) -> int& { return host.ranks; });
  addLines(
      "host-form-places", tr("Hosts with ranks"), tr("One a line, with its number of ranks: a01 8"), For::mpirun,
      [](const Host& host) { return joinPlaces(host.places); },
      [](Host& host, const QString& text) { host.places = splitPlaces(text); },
      [](Host& to, const Host& from) { to.places = from.places; });
  addWords("host-form-mpirun", tr("mpirun"), tr("The program and further options; empty: mpirun of the PATH"),
           For::both, [](Host& host) -> QStringList& { return host.mpirun; });
  section(tr("Slurm"), For::slurm);
  addText("host-form-account", tr("Account"), {}, For::slurm,
          [](Host& host) -> QString& { return host.slurm.account; });
  addText("host-form-partition", tr("Partition"), {}, For::slurm,
          [](Host& host) -> QString& { return host.slurm.partition; });
  addText("host-form-gres", tr("Generic resources"), tr("gpu:2, for each node"), For::slurm,
          [](Host& host) -> QString& { return host.slurm.gres; });
  addText("host-form-time", tr("Time limit"), tr("08:00:00; empty: the partition's own"), For::slurm,
          [](Host& host) -> QString& { return host.slurm.time; });
  addNumber("host-form-nodes", tr("Nodes"), {}, For::slurm, [](Host& host) -> int& { return host.slurm.nodes; });
  addNumber("host-form-per-node", tr("Ranks per node"), {}, For::slurm,
            [](Host& host) -> int& { return host.slurm.ranksPerNode; });
  addNumber(
      "host-form-cores", tr("Cores per rank"), tr("Empty: the partition's own, often one"), For::slurm,
      [](Host& host) -> int& { return host.slurm.coresPerRank; }, true);
  addNumber("host-form-signal", tr("Checkpoint before end"), tr("Seconds before the time limit"), For::slurm,
            [](Host& host) -> int& { return host.slurm.signalSeconds; });
  addNumber("host-form-continuations", tr("Continuations"),
            tr("How often a run whose time was over is submitted again"), For::slurm,
            [](Host& host) -> int& { return host.slurm.continuations; });
  addLines(
      "host-form-sbatch", tr("Further lines"), tr("#SBATCH --constraint=skylake"), For::slurm,
      [](const Host& host) { return host.slurm.lines.join('\n'); },
      [linesOf](Host& host, const QString& text) { host.slurm.lines = linesOf(text); },
      [](Host& to, const Host& from) { to.slurm.lines = from.slurm.lines; });
  section(tr("On the host"), For::both);
  addLines(
      "host-form-modules", tr("Before a job"), tr("Lines that its shell reads: module load openmpi"), For::both,
      [](const Host& host) { return host.modules.join('\n'); },
      [linesOf](Host& host, const QString& text) { host.modules = linesOf(text); },
      [](Host& to, const Host& from) { to.modules = from.modules; });
  addWords("host-form-container", tr("Container"), tr("Words before the engine: apptainer exec image.sif"), For::both,
           [](Host& host) -> QStringList& { return host.containerPrefix; });
  addNumber(
      "host-form-stalled", tr("Stalled after"),
      tr("Seconds for which the ranks wait for one of them before the run ends; empty: 40"), For::both,
      [](Host& host) -> int& { return host.stalledAfter; }, true);
  addText("host-form-folder", tr("Folder"), tr("Engine, runs and data there; on all hosts of a job the same"),
          For::both, [](Host& host) -> QString& { return host.folder; });
  addSwitch("host-form-bring-best", tr("Model"), tr("Bring the best checkpoint back when a run ends"), For::both,
            [](Host& host) -> bool& { return host.bringBest; });
  addText("host-form-data", tr("Data folder"),
          tr("Where the data lies already, as beside the project; empty: it is sent"), For::both,
          [](Host& host) -> QString& { return host.dataFolder; });
  addText("host-form-libraries", tr("NVIDIA libraries"),
          tr("Folder there with cuDNN and cuBLAS, searched first: /opt/nvidia/lib; empty: where the host has them"),
          For::both, [](Host& host) -> QString& { return host.libraries; });
}

void HostForm::setHost(const QString& id) {
  const Host* const host = m_context.hosts->store().find(id);
  m_id = host ? id : QString();
  if (!host) return;
  m_draft = *host;
  m_showing = true;
  for (const Field& each : m_fields)
    if (each.show) each.show(m_draft);
  m_showing = false;
  showKind();
  edited();
}

void HostForm::showKind() {
  const bool slurm = m_kind->current() == 1;
  for (const Field& each : m_fields)
    each.row->setVisible(each.kind == Field::For::both || (each.kind == Field::For::slurm) == slurm);
}

void HostForm::focusFirst() {
  m_first->setFocus(Qt::OtherFocusReason);
  m_first->selectAll();
}

QStringList HostForm::nameFaults() const {
  if (m_draft.name.isEmpty()) return {tr("a host needs a name")};
  for (const Host& each : m_context.hosts->store().hosts())
    if (each.id != m_id && each.name == m_draft.name)
      return {tr("another host is called '%1': names tell them apart").arg(m_draft.name)};
  return {};
}

void HostForm::edited() {
  if (m_showing || m_id.isEmpty()) return;
  HostStore& store = m_context.hosts->store();
  const Host* const before = store.find(m_id);
  if (!before) return;
  m_draft = *before;
  QStringList unreadable;
  for (const Field& each : m_fields)
    if (each.read)
      unreadable << each.read(m_draft);
    else
      unreadable << QString();
  bool good = true;
  const QStringList found = problems(m_draft);
  QStringList rest = found;
  for (std::size_t i = 0; i < m_fields.size(); ++i) {
    const Field& field = m_fields[i];
    if (!field.fault) continue;
    QStringList faults;
    if (!unreadable[static_cast<qsizetype>(i)].isEmpty()) faults << unreadable[static_cast<qsizetype>(i)];
    if (field.copy) {
      // A host that has nothing but this value: what is wrong with it is wrong with the value.
      Host probe;
      probe.name = m_draft.name.isEmpty() ? QStringLiteral("host") : m_draft.name;
      probe.address = "host";
      probe.kind = m_draft.kind;
      const QStringList without = problems(probe);
      field.copy(probe, m_draft);
      for (const QString& each : problems(probe))
        if (!without.contains(each) && found.contains(each)) faults << each;
    }
    for (const QString& each : std::as_const(faults)) rest.removeAll(each);
    if (field.row->findChild<QLineEdit*>() == m_first) faults << nameFaults();
    good = good && faults.isEmpty();
    field.fault->setText(faults.join('\n'));
    field.fault->setVisible(!faults.isEmpty());
    if (auto* const line = field.row->findChild<QLineEdit*>())
      setStyleProperty(line, "problem", faults.isEmpty() ? "" : "error");
  }
  m_rest->setText(rest.join('\n'));
  m_rest->setVisible(!rest.isEmpty());
  if (!good || !rest.isEmpty() || toJson(m_draft) == toJson(*before)) return;
  try {
    store.change(m_draft);
  } catch (const Error& error) {
    m_rest->setText(QString::fromStdString(error.what()));
    m_rest->show();
  }
}

}  // namespace loom
