'use strict';
// The planner's page. It keeps the question (which statistics, at what price) and asks the tool for every number: nothing
// about privacy or accuracy is computed here but the odds e^epsilon.

const $ = id => document.getElementById(id);
const all = selector => document.querySelectorAll(selector);
const state = {
  file: '',         // the declaration or ledger
  data: null,       // what it says
  statistics: [],   // {keys, price: {by, text}, held, planned, view}
  label: '', headline: '',  // of an opened specification
  spending: false,  // a release is on its way
  plan: null,       // the tool's last answer
  fault: '',        // or what it refused
  tab: 'toml',
};

// ---- Asking the tool -------------------------------------------------------------------------------------------------

async function ask(path, body) {
  const response = await fetch(path, body === undefined ? {} : {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
  const type = response.headers.get('Content-Type') || '';
  if (!type.startsWith('application/json')) {
    if (!response.ok) throw new Error(await response.text());
    return response.blob();
  }
  const json = await response.json();
  if (!response.ok) throw Object.assign(new Error(json.message || 'the tool could not answer; see its terminal'), {refused: response.status === 422});
  return json;
}

// One question at a time: while it is away, what changes is asked next.
let asking = false, changed = false;
async function refresh() {
  changed = true;
  if (asking || !state.data) return;
  asking = true;
  while (changed) {
    changed = false;
    if (state.statistics.length === 0) {
      state.plan = {statistics: [], epsilon: 0, unpaid: [], fits: false};
      state.fault = '';
    } else {
      try {
        state.plan = await ask('api/plan', {file: state.file, specification: toml()});
        state.fault = '';
        const planned = new Map(state.plan.statistics.map(each => [each.name, each]));
        for (const each of state.statistics) each.planned = planned.get(each.keys.name) || null;
      } catch (error) {
        state.fault = error.message;
      }
    }
    show();
  }
  asking = false;
  clearTimeout(refresh.rest);
  refresh.rest = setTimeout(show_savings, 600);
}

// When nothing has moved for a while: it takes the tool longer than a plan.
async function show_savings() {
  let savings = [];
  if (!state.fault && state.statistics.length > 0) {
    try {
      savings = (await ask('api/savings', {file: state.file, specification: toml()})).savings;
    } catch (error) {
      savings = [];
    }
  }
  if (changed || asking) return;
  const priced = new Map((state.plan ? state.plan.statistics : []).map(each => [each.name, each.epsilon]));
  $('savings').hidden = savings.length === 0;
  $('savings').querySelector('ul').replaceChildren(...savings.map(({statistic, change, accuracy, epsilon}) => Object.assign(document.createElement('li'), {textContent:
      `${statistic}: ${change} would give ±${short(accuracy)}` + (Math.abs(epsilon - priced.get(statistic)) > 1e-12 * epsilon ? ` for ε ${plain(epsilon, 4)}` : '')})));
}

// ---- The question as TOML --------------------------------------------------------------------------------------------

const bare = key => /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
function value(it) {
  if (Array.isArray(it)) return '[' + it.map(value).join(', ') + ']';
  if (typeof it === 'object') return '{ ' + Object.entries(it).map(([key, of]) => `${bare(key)} = ${value(of)}`).join(', ') + ' }';
  return typeof it === 'string' ? JSON.stringify(it) : String(it);
}
function toml(label = state.label) {
  let text = '';
  if (label) text += `label = ${value(label)}\n`;
  if (state.headline) text += `headline = ${value(state.headline)}\n`;
  if (text) text += '\n';
  text += `[budget]\nepsilon = ${value($('cap').value.trim() || '0')}\n`;
  for (const {keys, price} of state.statistics) {
    text += '\n[[statistic]]\n';
    for (const [key, it] of Object.entries(keys)) text += `${bare(key)} = ${value(it)}\n`;
    text += `${price.by} = ${value(price.text)}\n`;
  }
  return text;
}
const word = text => /^[A-Za-z0-9_./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
function commands() {
  const from = state.data && state.data.ledger ? '--ledger ' + word(state.file) : '--declaration ' + word(state.file);
  const ledger = state.data && state.data.ledger ? word(state.file) : 'people.ledger';
  return `snapdp plan question.toml ${from}\n` +
      (state.data && state.data.ledger ? '' : `snapdp ledger create ${ledger} ${word(state.file)} --epsilon 2\n`) +
      `snapdp release question.toml --ledger ${ledger} --html report.html\n` +
      `snapdp ledger anchor ${ledger} >> anchors.txt\n`;
}

// ---- Numbers ---------------------------------------------------------------------------------------------------------

// Costs and errors are rounded up, what is left down.
function rounded(number, digits, up) {
  if (!(Math.abs(number) > 0) || !isFinite(number)) return number;
  const step = 10 ** (Math.floor(Math.log10(Math.abs(number))) - digits + 1);
  const near = Number(number.toPrecision(digits));
  if (up ? near >= number : near <= number) return near;
  return Number((near + (up ? step : -step)).toPrecision(digits));
}
const minus = text => text.replace('-', '\u2212');
const short = (number, digits = 3) => number === null || !isFinite(number) ? '?'
    : minus(rounded(number, digits, true).toLocaleString('en-US', {maximumFractionDigits: 10}));
const plain = (number, digits) => String(rounded(number, digits, true));
const remaining = number => String(rounded(Math.max(0, number), 4, false));
const parse = text => {
  const match = text.trim().replaceAll(',', '').match(/^(\d*\.?\d+(?:e[+-]?\d+)?)(?:\s*\/\s*(\d*\.?\d+))?$/i);
  return match ? Number(match[1]) / (match[2] ? Number(match[2]) : 1) : NaN;
};
// At most so many percent sure: 100 less what remains in doubt, which is rounded down to two digits.
function surer(epsilon) {
  const doubt = 100 / (1 + Math.exp(epsilon)) * (1 - 1e-12);
  if (doubt < 1e-13) return '100';
  const places = Math.max(2, 1 - Math.floor(Math.log10(doubt)));
  return (100 - Math.floor(doubt * 10 ** places) / 10 ** places).toFixed(places);
}
const percent = share => Math.min(100, Math.max(0, 100 * share)).toFixed(2) + '%';
const list = text => text.split(',').map(each => each.trim()).filter(each => each !== '');

function svg(name, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, it] of Object.entries(attributes)) element.setAttribute(key, it);
  return element;
}
const line = (kind, x, y1, y2) => svg('line', {class: kind, x1: x, x2: x, y1, y2});
const say = text => { $('live').textContent = text; };

// ---- Statistics ------------------------------------------------------------------------------------------------------

// How epsilon is moved: by factors, from much privacy to much accuracy.
const least = Math.log2(0.005), most = Math.log2(8);
const titles = {count: 'number of rows', mean: 'mean', sum: 'sum', median: 'median', quantiles: 'quantiles', variance: 'variance',
  standard_deviation: 'standard deviation', histogram: 'histogram', distinct: 'number of different values', range_count: 'rows between bounds', top: 'most frequent categories'};

// How often the accuracy holds.
const often = alpha => alpha === undefined ? '95 times in 100' : `all but a share of ${alpha}`;

function unit(keys) {
  return ['count', 'histogram', 'range_count'].includes(keys.kind) ? 'rows'
      : ['median', 'quantiles'].includes(keys.kind) ? 'rows, in rank' : '';
}
const accuracy_of = planned => planned ? (planned.accuracy === null ? planned.rank_error : planned.accuracy) : null;

function add(keys, price) {
  const statistic = {keys, price, held: false, planned: null};
  const card = $('card').content.firstElementChild.cloneNode(true);
  const part = name => card.querySelector('.' + name);
  const id = 's' + add.count++;
  const view = statistic.view = {card, chart: part('chart'), words: part('words'), flag: part('flag'), epsilon: part('epsilon'),
    accuracy: part('accuracy'), range: part('range'), held: part('held')};
  const title = card.querySelector('h3');
  title.textContent = keys.name;
  title.id = id;
  card.setAttribute('aria-labelledby', id);
  part('what').textContent = `${titles[keys.kind] || keys.kind}${keys.column ? ' of ' + keys.column : ''}${keys.columns ? ' of ' + keys.columns.join(' and ') : ''}${keys.group_by ? ' by ' + keys.group_by : ''}`;
  part('unit').textContent = unit(keys);
  view.flag.id = id + '-flag';
  for (const [name, of] of [['epsilon', 'for-epsilon'], ['accuracy', 'for-accuracy'], ['range', 'for-range']]) {
    view[name].id = id + '-' + name;
    view[name].setAttribute('aria-describedby', view.flag.id);
    part(of).htmlFor = view[name].id;
  }
  for (const [key, it] of Object.entries({min: least, max: most, step: 0.05})) view.range.setAttribute(key, it);
  const move = epsilon => set_price(statistic, 'epsilon', plain(epsilon, 3));
  view.range.addEventListener('input', () => move(2 ** Number(view.range.value)));
  view.range.addEventListener('keydown', event => {
    const factor = {PageUp: 2, PageDown: 0.5}[event.key];
    if (!factor || !statistic.planned) return;
    event.preventDefault();
    move(statistic.planned.epsilon * factor);
  });
  for (const by of ['epsilon', 'accuracy']) {
    view[by].addEventListener('change', () => {
      const number = parse(view[by].value);
      if (number > 0 && isFinite(number)) return set_price(statistic, by, view[by].value.replaceAll(',', '').trim());
      view[by].setAttribute('aria-invalid', 'true');
      flag(statistic, (by === 'epsilon' ? 'ε' : '±') + ' is a number above 0');
    });
    view[by].addEventListener('keydown', event => { if (event.key === 'Enter') view[by].dispatchEvent(new Event('change')); });
  }
  view.held.addEventListener('change', () => { statistic.held = view.held.checked; });
  part('remove').addEventListener('click', () => {
    const at = state.statistics.indexOf(statistic);
    state.statistics.splice(at, 1);
    card.remove();
    (state.statistics[at] ? state.statistics[at].view.range : $('add')).focus();
    say(keys.name + ' is removed.');
    refresh();
  });
  state.statistics.push(statistic);
  $('cards').append(card);
  return statistic;
}
add.count = 0;

function set_price(statistic, by, text) {
  statistic.price = {by, text};
  for (const box of ['epsilon', 'accuracy']) statistic.view[box].removeAttribute('aria-invalid');
  refresh();
}

function flag(statistic, text) {
  statistic.view.flag.textContent = text ? '▲ ' + text : '';
  statistic.view.flag.hidden = !text;
}

function show_statistic(statistic) {
  const {view, planned, price, keys} = statistic;
  const refused = state.fault.includes(`statistic ${JSON.stringify(keys.name)}`) ? state.fault : '';
  if (refused) {
    (view[price.by] || view.epsilon).setAttribute('aria-invalid', 'true');
    return flag(statistic, refused);
  }
  if (!planned) return flag(statistic, state.fault ? '' : 'nothing of the budget is left for it');
  const accuracy = accuracy_of(planned);
  if (document.activeElement !== view.epsilon) view.epsilon.value = price.by === 'epsilon' ? price.text : plain(planned.epsilon, 4);
  if (document.activeElement !== view.accuracy) view.accuracy.value = price.by === 'accuracy' ? price.text : accuracy === null ? '' : plain(accuracy, 3);
  view.accuracy.disabled = planned.accuracy === null && price.by !== 'accuracy';
  if (!changed) view.range.value = Math.log2(planned.epsilon);  // unless it has been moved on since
  const amount = `${short(accuracy)} ${unit(keys)}`.trim();
  const told = accuracy === null ? 'accuracy not known before the release' : 'plus or minus ' + amount;
  view.range.setAttribute('aria-valuetext', `epsilon ${plain(planned.epsilon, 4)}, ${told}`);
  let words = accuracy === null ? 'How far it may be off is told with the release.' : `±${amount}, ${often(keys.alpha)}`;
  if (planned.together !== null) words += `; all ${planned.bins * Math.max(1, planned.groups) || planned.groups} at once ±${short(planned.together)}`;
  if (planned.guessed) words += ', for about such data as are guessed; the report tells what is proved';
  if (planned.constant) words = 'A public constant: exact, and free.';
  view.words.textContent = words;
  flag(statistic, draw(view.chart, keys, planned, accuracy));
}

// The band on the public range; what to beware of.
function draw(chart, keys, planned, accuracy) {
  chart.replaceChildren();
  const {lower} = planned;
  // Of a private number of rows the guess, where there is one.
  const upper = planned.upper === null && unit(keys).startsWith('rows') ? state.data.expected_size : planned.upper;
  if (lower === null || upper === null || !(upper > lower)) {
    chart.setAttribute('height', 0);
    return '';
  }
  chart.setAttribute('height', 36);
  chart.append(svg('line', {class: 'rule', x1: 0, x2: '100%', y1: 11, y2: 11}), line('rule', 0, 5, 17), line('rule', '100%', 5, 17));
  for (const [x, anchor, end] of [[0, 'start', lower], ['100%', 'end', upper]]) {
    const text = svg('text', {x, y: 33, 'text-anchor': anchor});
    text.textContent = short(end, 6);
    chart.append(text);
  }
  if (accuracy === null) return '';
  const half = accuracy / (upper - lower);
  if (half >= 0.5) {
    chart.append(svg('rect', {class: 'nothing', x: 0, width: '100%', y: 3, height: 16}));
    return 'tells nothing: the interval is the whole range';
  }
  chart.append(svg('rect', {class: 'band', x: percent(0.5 - half), width: percent(2 * half), y: 3, height: 16}),
      line('edge', percent(0.5 - half), 3, 19), line('edge', percent(0.5 + half), 3, 19));
  return half >= 0.25 ? 'tells little: the interval is half of the range or more' : '';
}

// ---- The whole -------------------------------------------------------------------------------------------------------

function show() {
  for (const statistic of state.statistics) show_statistic(statistic);
  const plan = state.plan, ledger = state.data && state.data.ledger;
  const total = plan ? plan.epsilon : 0, cap = parse($('cap').value);
  const budget = ledger ? ledger.budget : cap, spent = ledger ? ledger.spent : 0;
  const rest = Math.min(budget - spent - total, budget);
  for (const each of all('.total')) each.textContent = plain(total, 4);
  for (const each of all('.rest')) each.textContent = rest >= -1e-12 ? remaining(rest) : 'nothing';
  draw_budget(budget, spent, total, cap);
  $('sure').textContent = surer(total) + ' %';
  $('sure-all').textContent = spent > 0 ? `, and at most ${surer(total + spent)} % together with what was released before` : '';
  const warnings = [];
  if (state.fault) warnings.push(state.fault);
  if (plan && !state.fault) {
    if (total > cap * (1 + 1e-12)) warnings.push(`The run costs ε ${plain(total, 4)}; it may cost ${plain(cap, 4)}. Lower something, or press Fit.`);
    if (rest < -1e-12) warnings.push(`The ledger has only ε ${remaining(budget - spent)} left.`);
    if (plan.unpaid.length) warnings.push(`Nothing is left for ${plan.unpaid.join(', ')}.`);
    for (const {keys, view} of state.statistics) if (!view.flag.hidden) warnings.push(`${keys.name}: ${view.flag.textContent.slice(2)}.`);
  }
  $('warnings').querySelector('ul').replaceChildren(...warnings.map(text => Object.assign(document.createElement('li'), {textContent: text})));
  $('warnings').hidden = warnings.length === 0;
  const why = !state.data ? 'Choose what the question is about.' : !ledger ? 'A release needs a ledger: choose one, or make it with the second command.'
      : state.statistics.length === 0 ? 'Add a statistic first.' : state.fault ? 'Not while something is refused.' : plan && plan.fits ? '' : 'Not while the budget is exceeded.';
  $('go').setAttribute('aria-disabled', why !== '');
  $('why').textContent = why;
  show_take_along();
}

function draw_budget(budget, spent, total, cap) {
  const bar = $('budget-bar'), part = number => percent(budget > 0 ? number / budget : 0);
  bar.replaceChildren();
  const over = spent + total > budget * (1 + 1e-12) || total > cap * (1 + 1e-12);
  bar.append(svg('rect', {class: 'spent', x: 0, y: 1, width: part(spent), height: 22}),
      svg('rect', {class: over ? 'over' : 'planned', x: part(spent), y: 1, width: part(Math.min(total, budget - spent)), height: 22}),
      svg('rect', {class: 'frame', x: 0, y: 1, width: '100%', height: 22}));
  if (cap < budget - spent) bar.append(line('cap', part(spent + cap), -3, 26));
  for (const [x, anchor, text] of [[0, 'start', '0'], ['100%', 'end', plain(budget, 4)]]) {
    const label = svg('text', {x, y: 37, 'text-anchor': anchor});
    label.textContent = text;
    bar.append(label);
  }
  $('budget-words').textContent = `Of a budget of epsilon ${plain(budget, 4)}, ${plain(spent, 4)} was spent before; this run plans ${plain(total, 4)}` +
      (cap < budget ? ` of the ${plain(cap, 4)} that it may cost.` : '.');
}

function show_take_along() {
  $('out').textContent = state.tab === 'toml' ? toml() : commands();
  for (const tab of all('[role=tab]')) {
    const chosen = tab.id === 'tab-' + state.tab;
    tab.setAttribute('aria-selected', chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  $('out').setAttribute('aria-labelledby', 'tab-' + state.tab);
}

// Shares what is not held as it is shared now.
function fit() {
  const cap = parse($('cap').value), ledger = state.data && state.data.ledger;
  const priced = state.statistics.filter(each => each.planned);
  const sum = some => some.reduce((so_far, each) => so_far + each.planned.epsilon, 0);
  const free = priced.filter(each => !each.held);
  const room = Math.min(cap, ledger ? ledger.budget - ledger.spent : cap) - sum(priced.filter(each => each.held));
  if (free.length === 0 || !(room > 0)) return say('Nothing to fit: what is held takes all of the budget.');
  const factor = room / sum(free);
  for (const each of free) {
    const epsilon = each.planned.epsilon * factor, place = 10 ** (Math.floor(Math.log10(epsilon)) - 3);
    each.price = {by: 'epsilon', text: plain(Math.floor(epsilon / place * (1 - 1e-12)) * place, 4)};
  }
  say('Fitted to ε ' + plain(room, 4) + '.');
  refresh();
}

// ---- What is declared ------------------------------------------------------------------------------------------------

function fact(name, text) {
  return [Object.assign(document.createElement('dt'), {textContent: name}), Object.assign(document.createElement('dd'), {textContent: text})];
}

async function choose(file) {
  state.file = file;
  state.data = null;
  try {
    state.data = file ? await ask('api/data?file=' + encodeURIComponent(file)) : null;
    state.fault = '';
  } catch (error) {
    state.fault = error.message;
  }
  show_data();
  show();
  refresh();
}

function show_data() {
  const data = state.data;
  $('title').textContent = data ? ': ' + data.dataset : '';
  $('facts').replaceChildren();
  $('columns').replaceChildren();
  $('ledger').hidden = !(data && data.ledger);
  $('add').disabled = !data;
  if (!data) return;
  const rows = data.max_rows_per_unit === 1 ? 'at most 1 row' : `at most ${data.max_rows_per_unit} rows`;
  const what = data.neighbors === 'change-one' ? 'which values one person’s row has'
      : data.privacy_unit ? `whether a person is in the data at all (column ${data.privacy_unit}, ${rows} each)` : 'whether one row is in the data at all';
  $('hidden').textContent = 'Hidden: ' + what + '.';
  $('facts').append(...fact('data', data.dataset), ...fact('hidden', what));
  if (data.size !== null) $('facts').append(...fact('rows', data.size.toLocaleString('en-US') + ', public'));
  if (data.expected_size !== null) $('facts').append(...fact('rows', 'about ' + data.expected_size.toLocaleString('en-US') + ', a guess'));
  if (data.where) $('facts').append(...fact('where', data.where));
  for (const column of data.columns) {
    const item = document.createElement('li');
    item.append(Object.assign(document.createElement('b'), {textContent: column.name}));
    const told = column.lower !== undefined ? `${column.type}, ${minus(column.lower)} to ${minus(column.upper)}`
        : column.values.length ? `${column.type}, ${column.values.length} values` : column.type + ', nothing else declared';
    item.append(Object.assign(document.createElement('small'), {textContent: told + (column.description ? ': ' + column.description : '')}));
    $('columns').append(item);
  }
  if (data.ledger) show_ledger(data.ledger);
}

function show_ledger(ledger) {
  const row = (name, text) => {
    const element = document.createElement('tr');
    element.append(Object.assign(document.createElement('th'), {scope: 'row', textContent: name}), Object.assign(document.createElement('td'), {textContent: text}));
    return element;
  };
  $('ledger').querySelector('tbody').replaceChildren(row('file', ledger.file), row('allowed in all', 'ε ' + plain(ledger.budget, 4)),
      row('spent so far', `ε ${plain(ledger.spent, 4)}, ${ledger.releases === 0 ? 'no release yet' : ledger.releases === 1 ? '1 release' : ledger.releases + ' releases'}`));
}

function options(select, entries) {
  select.replaceChildren(...entries.map(([text, it]) => Object.assign(document.createElement('option'), {textContent: text, value: it})));
}

async function start() {
  const folder = await ask('api/folder');
  const files = [...folder.ledgers.map(name => [name + ', a ledger', name]), ...folder.declarations.map(name => [name, name])];
  options($('file'), files);
  options($('question'), [['choose …', ''], ...folder.specifications.map(name => [name, name])]);
  $('nothing').hidden = files.length > 0;
  $('file').addEventListener('change', () => choose($('file').value));
  $('question').addEventListener('change', () => open_question($('question').value));
  await choose(files.length ? files[0][1] : '');
}

async function open_question(file) {
  if (!file) return;
  try {
    const question = await ask('api/question?file=' + encodeURIComponent(file));
    for (const each of state.statistics) each.view.card.remove();
    state.statistics = [];
    state.label = question.label;
    state.headline = question.headline;
    $('label').value = question.label;
    if (question.budget.epsilon !== undefined) $('cap').value = String(question.budget.epsilon);
    for (const keys of question.statistics) {
      const price = ['epsilon', 'accuracy', 'weight'].find(by => keys[by] !== undefined) || 'epsilon';
      const text = keys[price] === undefined ? '0.1' : String(keys[price]);
      for (const by of ['epsilon', 'accuracy', 'weight']) delete keys[by];
      add(keys, {by: price, text});
    }
    say(`${file} is opened: ${state.statistics.length} statistics.`);
  } catch (error) {
    state.fault = error.message;
  }
  $('question').value = '';
  refresh();
}

// ---- Adding a statistic ----------------------------------------------------------------------------------------------

const chosen_column = () => state.data.columns.find(each => each.name === $('new-column').value);

function kinds_of(column) {
  if (!column) return ['count'];
  if (column.type === 'text') return ['histogram', 'distinct'];
  return ['mean', 'median', 'quantiles', 'sum', 'variance', 'standard_deviation', 'histogram', 'range_count', ...(column.values.length ? ['distinct'] : [])];
}

function show_new(renamed) {
  const column = chosen_column(), kind = $('new-kind').value;
  const bounded = column && column.lower !== undefined;
  $('new-bounds-row').hidden = !(kind === 'range_count' || (['mean', 'sum', 'variance', 'standard_deviation'].includes(kind) && !bounded));
  $('new-edges-row').hidden = !(['median', 'quantiles'].includes(kind) || (kind === 'histogram' && column && column.values.length === 0));
  $('new-quantiles-row').hidden = kind !== 'quantiles';
  const groups = state.data.neighbors === 'add-remove' ? state.data.columns.filter(each => each.values.length && each !== column) : [];
  $('new-groups-row').hidden = groups.length === 0;
  if (!$('new-edges-row').hidden && bounded && !$('new-edges').value) {
    const low = Number(column.lower), high = Number(column.upper);
    $('new-edges').value = Array.from({length: 11}, (_, i) => plain(low + (high - low) * i / 10, 6)).join(', ');
  }
  if (renamed) return;
  let name = kind === 'count' ? 'rows' : `${kind}_${column.name}`;
  while (state.statistics.some(each => each.keys.name === name)) name += '_';
  $('new-name').value = name;
}

function show_kinds() {
  options($('new-kind'), kinds_of(chosen_column()).map(kind => [titles[kind], kind]));
  $('new-edges').value = '';
  show_new(false);
}

function open_adding() {
  if (!state.data) return;
  options($('new-column'), [['all rows', ''], ...state.data.columns.map(each => [each.name, each.name])]);
  options($('new-groups'), [['all rows', ''], ...state.data.columns.filter(each => each.values.length).map(each => [each.name, each.name])]);
  if (state.data.columns.length) $('new-column').value = state.data.columns[0].name;
  $('new-fault').hidden = true;
  show_kinds();
  $('adding').showModal();
  $('new-column').focus();
}

function new_fault(text) {
  $('new-fault').textContent = '▲ ' + text;
  $('new-fault').hidden = false;
}

function add_new(event) {
  event.preventDefault();
  const column = chosen_column(), kind = $('new-kind').value, name = $('new-name').value.trim();
  if (!name) return new_fault('it needs a name');
  if (state.statistics.some(each => each.keys.name === name)) return new_fault('another statistic has this name');
  const keys = {name, kind};
  if (column) keys.column = column.name;
  if (!$('new-bounds-row').hidden) {
    keys.bounds = list($('new-bounds').value);
    if (keys.bounds.length !== 2) return new_fault('two numbers, the least first: 0, 100');
  }
  if (!$('new-edges-row').hidden) {
    keys.edges = list($('new-edges').value);
    if (keys.edges.length < 2) return new_fault('at least two edges, from low to high');
  }
  if (!$('new-quantiles-row').hidden) keys.quantiles = list($('new-quantiles').value);
  if (!$('new-groups-row').hidden && $('new-groups').value && $('new-groups').value !== keys.column) keys.group_by = $('new-groups').value;
  $('adding').close();
  const statistic = add(keys, {by: 'epsilon', text: '0.1'});
  statistic.view.range.focus();
  say(name + ' is added.');
  refresh();
}

// ---- Releasing -------------------------------------------------------------------------------------------------------

function open_spending() {
  if (state.spending) return say('A release is on its way.');
  if (asking || changed) return say('The plan is being made; once more in a moment.');
  if ($('go').getAttribute('aria-disabled') === 'true') return say($('why').textContent);
  const count = state.statistics.length;
  $('spending-what').textContent = `${count} ${count === 1 ? 'statistic' : 'statistics'} of ${state.data.dataset} ${count === 1 ? 'is' : 'are'} released. The ledger then has ε ${remaining(state.data.ledger.budget - state.data.ledger.spent - state.plan.epsilon)} left.`;
  $('ledger-name').textContent = state.data.ledger.file;
  $('typed').value = '';
  $('yes').disabled = true;
  $('spending-fault').hidden = true;
  $('spending').showModal();
  $('typed').focus();
}

async function spend(event) {
  event.preventDefault();
  if (state.spending || $('typed').value.trim() !== state.data.ledger.file) return;
  state.spending = true;
  show_spending();
  try {
    const label = $('label').value.trim();
    const done = await ask('api/release', {file: state.file, specification: toml(label), typed: $('typed').value.trim(), price: state.plan.price});
    if (done.ledger) {
      state.data.ledger = done.ledger;
      show_ledger(done.ledger);
    }
    $('spending').close();
    show_done(done);
    refresh();
  } catch (error) {
    // Only what the tool itself refused is known to have cost nothing.
    $('spending-fault').textContent = '▲ ' + (error.refused ? error.message
        : 'The answer did not come: it may have been paid for. Look before you try again: snapdp ledger show ' + word(state.data.ledger.file));
    $('spending-fault').hidden = false;
  }
  state.spending = false;
  show_spending();
}

function show_spending() {
  $('yes').disabled = state.spending || $('typed').value.trim() !== state.data.ledger.file;
  $('no').disabled = state.spending;
}

function show_done(done) {
  $('done-words').textContent = done.not_stored ? `Release ${done.release} is paid for, but the ledger could not keep its report (${done.not_stored}): save it now.`
      : done.release === null ? 'Everything asked for is public: nothing was spent, and the ledger keeps nothing. Save it here.'
      : done.reprinted ? `Release ${done.release} bears this label already: nothing was read and nothing spent.` : `Release ${done.release} is in the ledger.`;
  const link = (text, more) => Object.assign(document.createElement('a'), {textContent: text, rel: 'noopener', ...more});
  const address = as => `report?file=${encodeURIComponent(state.data.ledger.file)}&release=${done.release}&as=${as}`;
  const saved = (text, name, type) => link(name, {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  $('done-links').replaceChildren(...(done.report ? [saved(done.page, 'report.html', 'text/html'), saved(done.report, 'report.json', 'application/json')]
      : [link('Open the report', {href: address('html'), target: '_blank'}), ...[['CSV', 'csv'], ['Markdown', 'markdown'], ['JSON', 'json']].map(([text, as]) => link(text, {href: address(as)}))]));
  $('done').showModal();
}

function keep(blob, name) {
  const link = Object.assign(document.createElement('a'), {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- Controls --------------------------------------------------------------------------------------------------------

$('cap').addEventListener('change', refresh);
$('fit').addEventListener('click', fit);
$('add').addEventListener('click', open_adding);
$('new-column').addEventListener('change', show_kinds);
$('new-kind').addEventListener('change', () => show_new(false));
$('new-no').addEventListener('click', () => $('adding').close());
$('adding').querySelector('form').addEventListener('submit', add_new);
$('go').addEventListener('click', open_spending);
$('typed').addEventListener('input', show_spending);
$('spending').addEventListener('cancel', event => { if (state.spending) event.preventDefault(); });
$('no').addEventListener('click', () => $('spending').close());
$('spending').querySelector('form').addEventListener('submit', spend);
$('done-close').addEventListener('click', () => $('done').close());
$('save').addEventListener('click', () => keep(new Blob([toml()], {type: 'application/toml'}), 'question.toml'));
$('page').addEventListener('click', async () => {
  try {
    keep(await ask('api/page', {file: state.file, specification: toml()}), 'plan.html');
  } catch (error) {
    say(error.message);
  }
});
$('copy').addEventListener('click', () => {
  if (!navigator.clipboard) return say('Could not copy; select the text instead.');
  navigator.clipboard.writeText($('out').textContent).then(() => say('Copied.'), () => say('Could not copy; select the text instead.'));
});
const tabs = [...all('[role=tab]')];
tabs.forEach((tab, at) => {
  const take = chosen => { state.tab = chosen.id.slice('tab-'.length); show_take_along(); };
  tab.addEventListener('click', () => take(tab));
  tab.addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    take(next);
    next.focus();
  });
});
document.addEventListener('keydown', event => {
  const typing = /^(text|search)$/.test(event.target.type || '') || event.target.tagName === 'SELECT';
  if (!$('keys').checked || document.querySelector('dialog[open]') || typing || event.ctrlKey || event.altKey || event.metaKey) return;
  const views = state.statistics.map(each => each.view);
  const now = views.findIndex(view => view.card.contains(document.activeElement));
  const go = at => { if (views.length) views[(at + views.length) % views.length].range.focus(); };
  const keys = {j: () => go(now + 1), k: () => go(now < 0 ? -1 : now - 1), a: open_adding, f: fit, r: open_spending, h: () => { if (now >= 0) views[now].held.click(); }};
  if (!keys[event.key]) return;
  keys[event.key]();
  event.preventDefault();
});
start();
