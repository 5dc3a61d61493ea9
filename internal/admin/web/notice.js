// Short notices, and questions that want a yes.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { t } from "./words.js";

let show = () => {}, question = () => {};

export const say = (text, mood) => show({ text, mood, n: Date.now() });
export const ask = (title, text, yes) => new Promise((done) => question({ title, text, yes, done }));

const shownFor = 6000;

export function Notices() {
  const [notice, setNotice] = useState(null), [asked, setAsked] = useState(null);
  const box = useRef(null);
  show = setNotice;
  question = setAsked;
  useEffect(() => {
    if (!notice) return undefined;
    const timer = setTimeout(() => setNotice(null), shownFor);
    return () => clearTimeout(timer);
  }, [notice]);
  useEffect(() => { if (asked && box.current && !box.current.open) box.current.showModal(); }, [asked]);
  const answer = (yes) => {
    asked.done(yes);
    setAsked(null);
  };
  return html`<div class="notices" role="status" aria-live="polite">${notice && html`<p class=${"notice tone-" + notice.mood} key=${notice.n}>${notice.text}</p>`}</div>
    ${asked && html`<dialog ref=${box} aria-labelledby="asked" onCancel=${() => answer(false)}><h2 id="asked">${asked.title}</h2><p>${asked.text}</p>
      <div class="buttons"><button class="risky" onClick=${() => answer(true)}>${asked.yes}</button><button autofocus onClick=${() => answer(false)}>${t("cancel")}</button></div></dialog>`}`;
}
