// Modal dialogs, which take no input that was meant for what was there before.

import { announce, h, uniqueId } from "./dom.js";

/** Time without input after which a new dialog takes input. */
const QUIET_MS = 500;
const INPUTS = ["keydown", "keyup", "pointerdown", "pointerup"];

/** Opens a dialog, and returns a function that closes it. Escape calls `dismiss`. */
export function openDialog(title, content, dismiss) {
  const id = uniqueId("dialog");
  const dialog = h("dialog", { class: "dialog", "aria-labelledby": id }, h("h2", { id }, title), content);
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    dismiss();
  });
  // A browser may close a dialog without the event above.
  dialog.addEventListener("close", () => dialog.isConnected && dismiss());
  document.body.append(dialog);
  dialog.showModal();
  hold(dialog);
  announce(title);
  return () => {
    // Returns the focus to what had it before.
    dialog.close();
    dialog.remove();
  };
}

/** Ignores input until the user pauses: clicks and keys may have been meant for another dialog, or for the page. */
function hold(dialog) {
  const focused = document.activeElement;
  dialog.inert = true;
  let timer;
  const release = () => {
    for (const input of INPUTS) document.removeEventListener(input, wait, true);
    dialog.inert = false;
    if (dialog.isConnected) focused?.focus();
  };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(release, QUIET_MS);
  };
  for (const input of INPUTS) document.addEventListener(input, wait, true);
  wait();
}
