// The chat form of the Loop: a list of messages as an alternative to the plain prompt. Both keep
// their text while the other one is shown. The server converts the messages to a prompt.
import { t } from './texts.js';

const byId = (id) => document.getElementById(id);
const list = () => byId('messages');
const textOf = (row) => row.querySelector('textarea');

export const isChat = () => byId('prompt-box').classList.contains('is-chat');

// typed returns the typed text or messages as the fields of a command that starts a run or splits
// the text into tokens.
export const typed = () => (isChat() ? { messages: messages() } : { prompt: byId('prompt').value });

export const messages = () => Array.from(list().children, (row) => (
  { role: row.querySelector('select').value, content: textOf(row).value }));

// written returns everything in the box, including hidden text, so that write can restore it.
export const written = () => ({ prompt: byId('prompt').value, messages: messages(), chat: isChat() });

export function write({ prompt, messages: said, chat }) {
  byId('prompt').value = prompt;
  fill(said);
  showChat(chat);
}

// showChat switches between the chat form and the plain prompt.
export function showChat(on) {
  byId('prompt-box').classList.toggle('is-chat', on);
  for (const button of document.querySelectorAll('[data-chat-mode]')) {
    button.setAttribute('aria-pressed', String((button.dataset.chatMode === 'chat') === on));
  }
}

// fill fills the form with a conversation.
export function fill(conversation) {
  list().replaceChildren(...conversation.map(rowOf));
  name();
}

function rowOf({ role, content }) {
  const row = byId('message-row').content.firstElementChild.cloneNode(true);
  row.querySelector('select').value = role;
  textOf(row).value = content;
  return row;
}

// name numbers the messages for screen readers, and disables the button for adding one when the
// form is full.
function name() {
  const rows = [...list().children];
  rows.forEach((row, i) => {
    textOf(row).setAttribute('aria-label', t('js.chat.message', { n: i + 1 }));
    row.querySelector('select').setAttribute('aria-label', t('js.chat.who', { n: i + 1 }));
    row.querySelector('button').setAttribute('aria-label', t('js.chat.remove', { n: i + 1 }));
  });
  const full = rows.length >= Number(list().dataset.most);
  for (const button of document.querySelectorAll('[data-chat-add]')) button.setAttribute('aria-disabled', String(full));
}

// pressed carries out the action of a button of the form. It reports whether the button
// belongs to the form.
export function pressed(button) {
  const { chatMode, chatAdd } = button.dataset;
  if (chatMode) {
    showChat(chatMode === 'chat');
    (isChat() ? textOf(list().lastElementChild) : byId('prompt')).focus();
  } else if (chatAdd) add(chatAdd);
  else if ('chatRemove' in button.dataset) remove(button.closest('li'));
  else return false;
  return true;
}

// add adds the next message of the other role, or instructions at the top.
function add(what) {
  const last = list().lastElementChild?.querySelector('select').value;
  const row = rowOf({ role: what === 'system' ? what : last === 'user' ? 'assistant' : 'user', content: '' });
  if (what === 'system') list().prepend(row);
  else list().append(row);
  name();
  textOf(row).focus();
}

// remove removes a message. If it is the only one, its text is cleared.
function remove(row) {
  const near = row.nextElementSibling ?? row.previousElementSibling;
  if (near) row.remove();
  else textOf(row).value = '';
  name();
  textOf(near ?? row).focus();
}
