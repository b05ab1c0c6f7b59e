// The page says everything without this script. It adds a filter and "open all".
const $ = (q, at = document) => [...at.querySelectorAll(q)];
let kind = '', text = '';
const show = () => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const e of $('[data-k]')) {
    const hit = (!kind || e.dataset.k.split(' ').includes(kind)) && words.every(w => (e.dataset.k + ' ' + e.textContent).toLowerCase().includes(w));
    e.hidden = !hit;
    if (hit && e.matches('.task')) n++;
  }
  for (const b of $('[data-show]')) b.setAttribute('aria-pressed', b.dataset.show === kind);
  for (const c of $('.count')) c.textContent = kind || words.length ? `${n} of ${$('.task').length}` : '';
};
const wire = () => {
  const tools = $('.tools')[0], box = $('input', tools)[0];
  tools.hidden = false;
  box.value = text;
  box.addEventListener('input', () => { text = box.value; show(); });
  for (const b of $('[data-show]', tools)) b.addEventListener('click', () => { kind = b.dataset.show; show(); });
  for (const b of $('[data-open]', tools)) b.addEventListener('click', () => { for (const d of $('#tasks details')) d.open = b.dataset.open === '1'; });
  if (kind || text) show();
};
wire();
