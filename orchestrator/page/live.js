// The page of a run at work: it is taken anew when the server says that it is another. Only what differs is replaced, so that a long page is renewed at once, and what the reader has opened, typed and scrolled to stays.
const root = document.documentElement, status = () => $('.asof [role=status]')[0];
const say = (state, words) => { root.dataset.live = state; if (words) status().textContent = words; };
// The place of an element below main, by which it is found in the renewed page: the nearest element with an ID, and the way down from there.
const pathOf = e => {
  const way = [];
  for (; e && e !== document.body && e.tagName !== 'MAIN'; e = e.parentElement) {
    if (e.id) return { id: e.id, way };
    way.unshift([...e.parentElement.children].indexOf(e));
  }
  return e && e.tagName === 'MAIN' ? { id: '', way } : null;
};
const follow = p => p.way.reduce((e, i) => e?.children[i], p.id ? document.getElementById(p.id) : $('main')[0]);
// A row is a line of the page's text. The rows that are the same as before are not sent, and need no parsing: their elements stay as they are.
let page = ''; // the number of the page that is shown; '': it is not known, and the whole page is fetched
let rows = 0; // in the page that was fetched
const kept = []; // the elements that stay, by the number in data-kept
const parse = text => {
  const elements = $('li.row');
  kept.length = rows = 0;
  const lines = text.split('\n').map(line => {
    const same = line.match(/^<li data-rows="(\d+) (\d+)">/);
    rows += same ? same[2] - same[1] : line.startsWith('<li class="row"');
    return same ? elements.slice(same[1], same[2]).map(e => `<li data-kept="${kept.push(e) - 1}"></li>`).join('\n') : line;
  });
  return new DOMParser().parseFromString(lines.join('\n'), 'text/html');
};
const keyOf = n => n.id || n.firstElementChild?.id || '';
// Makes an element like its next version. Its attributes open and hidden are the reader's.
const renewElement = (old, next) => {
  if (old.isEqualNode(next)) return;
  if (old.nodeType !== 1 || old.nodeName !== next.nodeName) { old.replaceWith(next); return; }
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name) && name !== 'open' && name !== 'hidden') old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const all = [...next.childNodes].map(n => kept[n.dataset?.kept] || n), wanted = new Set(all), keys = new Set(all.map(keyOf));
  const known = new Map([...old.childNodes].filter(keyOf).map(n => [keyOf(n), n]));
  let at = old.firstChild;
  const drop = () => { const gone = at; at = at.nextSibling; gone.remove(); };
  for (const n of all) {
    while (at && keyOf(at) && !keys.has(keyOf(at))) drop();
    if (n === at) { at = at.nextSibling; continue; }
    const same = keyOf(n) ? known.get(keyOf(n)) : at && !keyOf(at) && !wanted.has(at) && at.nodeName === n.nodeName ? at : null;
    if (!same || same === n) { old.insertBefore(n, at); continue; }
    if (same === at) at = at.nextSibling; else old.insertBefore(same, at);
    renewElement(same, n);
  }
  while (at) drop();
};
let busy = false, again = false;
const renew = async () => {
  if (busy) { again = true; return; }
  busy = true;
  do {
    again = false;
    try {
      const answer = await fetch(page ? '/?since=' + page : '/', { cache: 'no-store' });
      page = '';
      if (!answer.ok) throw new Error(answer.status);
      const next = parse(await answer.text()), at = [scrollX, scrollY];
      const opened = $('details[open][id]').map(d => d.id), focused = document.activeElement, path = pathOf(focused);
      document.title = next.title;
      for (const q of ['.asof', 'nav', 'main']) renewElement($(q)[0], $(q, next)[0]);
      for (const id of opened) { const d = document.getElementById(id); if (d) d.open = true; }
      if (kind || text) show();
      if (path && document.activeElement !== focused) (focused.isConnected ? focused : follow(path))?.focus({ preventScroll: true });
      scrollTo(...at);
      if ($('li.row').length === rows) page = answer.headers.get('Kanban-Page');
      say('on');
    } catch (e) { say('lost', 'connection lost at ' + new Date().toISOString().slice(11, 19) + ' UTC; trying again'); }
  } while (again);
  busy = false;
};
const events = new EventSource('/events');
events.addEventListener('change', renew);
events.addEventListener('open', () => say('on'));
events.addEventListener('error', () => say('lost', 'connection lost at ' + new Date().toISOString().slice(11, 19) + ' UTC; trying again'));
const clock = s => s < 60 ? s + 's' : s < 3600 ? `${s / 60 | 0}m${String(s % 60).padStart(2, '0')}s` : `${s / 3600 | 0}h${String((s % 3600) / 60 | 0).padStart(2, '0')}m`;
setInterval(() => { for (const e of $('[data-since]')) e.textContent = clock(Math.max(0, (Date.now() - e.dataset.since) / 1000 | 0)); }, 1000);
