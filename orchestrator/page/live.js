// The page of a run at work: it is taken anew when the server says that it is another. What the reader has opened, typed and scrolled to stays.
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
let busy = false, again = false;
const renew = async () => {
  if (busy) { again = true; return; }
  busy = true;
  do {
    again = false;
    try {
      const answer = await fetch('/', { cache: 'no-store' });
      if (!answer.ok) throw new Error(answer.status);
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const opened = new Map($('details[id]').map(d => [d.id, d.open])), at = [scrollX, scrollY];
      const typing = document.activeElement && document.activeElement.matches('.tools input');
      const focus = pathOf(document.activeElement);
      document.title = next.title;
      $('.asof')[0].replaceWith($('.asof', next)[0]);
      $('nav')[0].replaceWith($('nav', next)[0]);
      $('main')[0].replaceWith($('main', next)[0]);
      for (const d of $('details[id]')) if (opened.has(d.id)) d.open = opened.get(d.id);
      wire();
      if (typing) { const box = $('.tools input')[0]; box.focus(); box.setSelectionRange(text.length, text.length); }
      else if (focus) follow(focus)?.focus({ preventScroll: true });
      scrollTo(...at);
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
