'use strict';
// The episode viewer. Model text is only ever set as text; the board's markup comes from the environment, which escapes.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const [ID, RUN, TASK, OUTCOME, STOP, MOVES, REWARD, MEASURE, FLAGS, LABELS] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const REPAIRED = 1, FLIPPED = 2;
  const SHOWN_AT_ONCE = 300;
  const $ = id => document.getElementById(id);
  const list = $('list'), one = $('one'), search = $('search'), count = $('count');
  const state = { filter: 'all', task: null, label: '', run: '', shown: [], at: -1, most: SHOWN_AT_ONCE };
  const chunks = new Map();
  // Plays stand in the journal as they ended; here by step, group, sample and run.
  const place = data.episodes.map((e, i) => [...e[ID].matchAll(/\d+/g)].map(Number).concat(e[RUN], i));
  const order = new Array(place.length);
  [...place.keys()].sort((a, b) => {
    for (let n = 0; n < place[a].length; n++) if (place[a][n] !== place[b][n]) return place[a][n] - place[b][n];
    return 0;
  }).forEach((i, n) => { order[i] = n; });

  const make = (name, text, cls) => {
    const e = document.createElement(name);
    if (text !== undefined && text !== null) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  };
  const fixed = (x, n) => x === null ? '-' : Number(x).toFixed(n).replace(/\.?0+$/, '') || '0';

  const filters = {
    all: () => true,
    solved: e => data.outcomes[e[OUTCOME]] === 'solved',
    lost: e => data.outcomes[e[OUTCOME]] === 'lost',
    failed: e => ['forfeited', 'truncated'].includes(data.outcomes[e[OUTCOME]]),
    flipped: e => (e[FLAGS] & FLIPPED) !== 0,
    errored: e => data.outcomes[e[OUTCOME]] === 'errored',
    repaired: e => (e[FLAGS] & REPAIRED) !== 0,
  };
  const taskName = e => data.tasks[e[TASK]][0];
  const taskAnswer = e => data.tasks[e[TASK]][1];

  function matches(e, words) {
    if (!filters[state.filter](e)) return false;
    if (state.task !== null && e[TASK] !== state.task) return false;
    if (state.run !== '' && e[RUN] !== Number(state.run)) return false;
    if (state.label !== '' && !e[LABELS].includes(Number(state.label))) return false;
    const text = `${e[ID]} ${taskName(e)} ${taskAnswer(e)} ${e[LABELS].map(l => data.labels[l]).join(' ')}`.toLowerCase();
    return words.every(w => text.includes(w));
  }

  function refresh() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    state.shown = [];
    for (let i = 0; i < data.episodes.length; i++) if (matches(data.episodes[i], words)) state.shown.push(i);
    state.shown.sort((a, b) => order[a] - order[b]);
    state.most = SHOWN_AT_ONCE;
    fill();
    pick(state.shown.length ? 0 : -1);
  }

  function row(i, place) {
    const e = data.episodes[i], li = make('li');
    li.id = `e${i}`;
    li.setAttribute('role', 'option');
    li.append(make('span', taskAnswer(e) || taskName(e)), make('span', data.outcomes[e[OUTCOME]], `tag ${data.outcomes[e[OUTCOME]]}`),
      make('small', `${data.runs.length > 1 ? data.runs[e[RUN]] + ' · ' : ''}${e[ID]} · reward ${fixed(e[REWARD], 3)} · moves ${e[MOVES]}`));
    li.addEventListener('click', () => pick(place));
    return li;
  }

  function fill() {
    const rows = state.shown.slice(0, state.most).map(row);
    if (state.shown.length > state.most) {
      const more = make('li', `${state.shown.length - state.most} more ...`, 'faint');
      more.addEventListener('click', () => { state.most += SHOWN_AT_ONCE; fill(); mark(); });
      rows.push(more);
    }
    list.replaceChildren(...rows);
    count.textContent = `${state.shown.length} of ${data.episodes.length} plays` +
      (state.task !== null ? ` of ${data.tasks[state.task][1] || data.tasks[state.task][0]}` : '');
  }

  function mark() {
    for (const li of list.querySelectorAll('[aria-selected]')) li.removeAttribute('aria-selected');
    const li = list.children[state.at];
    if (!li) return;
    li.setAttribute('aria-selected', 'true');
    list.setAttribute('aria-activedescendant', li.id);
    const box = list.getBoundingClientRect(), mine = li.getBoundingClientRect();
    if (mine.top < box.top) list.scrollTop -= box.top - mine.top;
    if (mine.bottom > box.bottom) list.scrollTop += mine.bottom - box.bottom;
  }

  function pick(place) {
    state.at = place;
    if (place >= state.most) { state.most += SHOWN_AT_ONCE; fill(); }
    mark();
    if (place < 0) { one.replaceChildren(make('p', 'No play fits the filters.', 'faint')); return; }
    show(state.shown[place]);
  }

  async function chunk(n) {
    if (!chunks.has(n)) {
      const bytes = Uint8Array.from(atob($(`chunk${n}`).textContent), c => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
      chunks.set(n, JSON.parse(await new Response(stream).text()));
    }
    return chunks.get(n);
  }

  function call(c) {
    const box = make('div');
    const line = make('p');
    line.append(make('strong', c.n || '(no name)'), ' ', make('code', c.a), ' ', make('span', c.s, 'tag faint'));
    for (const repair of c.p) line.append(make('span', `repaired: ${repair}`, 'tag forfeited'));
    box.append(line, make('pre', c.x));
    return box;
  }

  function turn(t, n) {
    const box = make('div', null, 'turn');
    const used = [t.f, t.u[1] !== null ? `${t.u[1]} tokens` : '', t.m ? `${t.m} ms` : '', t.g > 1 ? `${t.g} attempts` : ''];
    box.append(make('small', `turn ${n + 1} · ${used.filter(Boolean).join(' · ')}`));
    if (t.r) box.append(make('pre', t.r, 'thought'));
    box.append(...t.c.map(call));
    return box;
  }

  async function show(i) {
    const e = data.episodes[i];
    const all = await chunk(Math.floor(i / data.chunk));
    if (state.shown[state.at] !== i) return; // another was picked meanwhile
    const d = all[i % data.chunk];
    const head = make('h3', taskAnswer(e) ? `${taskAnswer(e)} (${taskName(e)})` : taskName(e));
    const facts = make('p');
    facts.append(make('span', data.outcomes[e[OUTCOME]], `tag ${data.outcomes[e[OUTCOME]]}`),
      make('small', `${data.runs[e[RUN]]} · ${e[ID]} · stopped: ${data.stops[e[STOP]]} · moves ${e[MOVES]} · reward ${fixed(e[REWARD], 4)} · ${data.measure} ${fixed(e[MEASURE], 4)}`));
    const board = make('div');
    board.innerHTML = d.b;
    const parts = make('p', Object.entries(d.p).map(([k, v]) => `${k} ${fixed(v, 4)}`).join('  ·  '), 'faint');
    const parts2 = [head, facts, board, parts];
    if (d.e) parts2.push(make('p', d.e, 'errored'));
    one.replaceChildren(...parts2, ...d.t.map(turn));
  }

  const step = by => { const to = state.at + by; if (to >= 0 && to < state.shown.length) pick(to); };
  const press = (group, button) => { for (const b of group) b.setAttribute('aria-pressed', String(b === button)); };

  const chips = [...document.querySelectorAll('[data-filter]')];
  for (const b of chips) b.addEventListener('click', () => { state.filter = b.dataset.filter; state.task = null; press(chips, b); refresh(); });
  for (const tr of document.querySelectorAll('tr[data-task]')) {
    const go = () => { state.task = Number(tr.dataset.task); state.filter = 'all'; press(chips, chips[0]); refresh(); $('plays').scrollIntoView(); };
    tr.addEventListener('click', go);
    tr.addEventListener('keydown', event => { if (event.key === 'Enter') go(); });
  }
  search.addEventListener('input', () => { state.task = null; refresh(); });
  $('label').addEventListener('change', event => { state.label = event.target.value; refresh(); });
  $('run').addEventListener('change', event => { state.run = event.target.value; refresh(); });

  const root = document.documentElement;
  const dark = () => { root.dataset.theme = root.dataset.theme === 'dark' || (!root.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches) ? 'light' : 'dark'; };
  const safe = () => { root.dataset.colors = root.dataset.colors === 'safe' ? '' : 'safe'; $('safe').setAttribute('aria-pressed', String(root.dataset.colors === 'safe')); };
  const nextFilter = () => chips[(chips.findIndex(b => b.dataset.filter === state.filter) + 1) % chips.length].click();
  $('dark').addEventListener('click', dark);
  $('safe').addEventListener('click', safe);
  $('help').addEventListener('click', () => $('keys').showModal());

  const keys = { j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), f: nextFilter, d: dark, c: safe,
    '?': () => $('keys').showModal(), '/': () => search.focus() };
  addEventListener('keydown', event => {
    if (event.key === 'Escape' && document.activeElement === search) { search.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT', 'TEXTAREA'].includes(document.activeElement.tagName)) return;
    if (!keys[event.key] || $('keys').open) return;
    event.preventDefault();
    keys[event.key]();
  });
  refresh();
  root.dataset.ready = 'yes';
})();
