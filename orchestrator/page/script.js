// The page says everything without this script. It adds a filter, "open all" and buttons that copy. It listens at the document, so that a renewed part needs no wiring.
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
const copy = async button => {
  const command = button.previousElementSibling;
  try { await navigator.clipboard.writeText(command.textContent); button.classList.add('is-done'); }
  catch { getSelection().selectAllChildren(command); } // the browser does not let it: the reader copies what is selected
};
document.addEventListener('input', e => { if (e.target.matches('#tools input')) { text = e.target.value; show(); } });
document.addEventListener('click', e => {
  const button = e.target.closest('button');
  if (!button) return;
  if (button.matches('.copy')) copy(button);
  if (button.dataset.show !== undefined) { kind = button.dataset.show; show(); }
  if (button.dataset.open) for (const d of $('#boards details')) d.open = button.dataset.open === '1';
});
document.documentElement.dataset.script = '';
