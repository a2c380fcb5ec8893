// Token by Token in your own page. Load this file from a Token by Token server or site:
//
//   <script src="…/embed/viz.js" defer></script>
//   <viz-loop prompt="Once upon a time there was a"></viz-loop>
//   <viz-widget experiment="cache-saves"></viz-widget>
//   <viz-widget drill="softmax" level="2"></viz-widget>
//
// or copy it, and set each element's base to the address of Token by Token:
// base="https://viz.example/".
//
//   <viz-loop>    prompt: a text to begin with; or log: the part of a Loop link after log=; or
//                 neither, if the reader is to type a text. view: story or numbers.
//   <viz-widget>  experiment: the name of an experiment, and view; or drill: the name of a
//                 drill, with level and seed.
//
// Both accept label, the accessible name of the frame. Your page's policy must allow the server
// in script-src and frame-src. A server must be started with your page's origin in
// -embed-origins. The element is as tall as its contents.
//
// This file also works with type="module" or an import if the host allows your page to read it
// (CORS). So it must be valid both as a classic script, without import and export, and as a
// module. The block keeps its names out of your page's scope.
{
  // own is the address of this file. In a module, document.currentScript is null, so the address is
  // taken from the top of a stack trace.
  const own = document.currentScript?.src || /https?:.+?(?=:\d+:\d+)/.exec(new Error().stack)?.[0];
  const here = new URL('../', own ?? document.baseURI).href;

  // The minimum and maximum height of a frame in pixels, and its height until its page reports
  // one.
  const lowest = 80;
  const highest = 8000;
  const atFirst = 420;

  class Embed extends HTMLElement {
    #frame = null;
    #listen = (event) => this.#receive(event);

    connectedCallback() {
      addEventListener('message', this.#listen);
      if (!this.#frame) this.#show();
    }

    disconnectedCallback() { removeEventListener('message', this.#listen); }

    attributeChangedCallback() { if (this.#frame) this.#show(); }

    // address returns the address of the framed page relative to the base.
    address() { throw new Error('a subclass must implement address'); }

    // query returns a query with the given attributes, except for attributes that are not set.
    query(...names) {
      const query = new URLSearchParams();
      for (const name of names) if (this.hasAttribute(name)) query.set(name, this.getAttribute(name));
      return query.size ? `?${query}` : '';
    }

    #show() {
      const address = this.address();
      this.#frame?.remove();
      this.#frame = null;
      if (!address) return;
      const base = new URL(this.getAttribute('base') ?? here, document.baseURI);
      if (!base.pathname.endsWith('/')) base.pathname += '/';
      const url = new URL(`embed/${address}`, base);
      if (!/^https?:$/.test(url.protocol)) return;
      const frame = document.createElement('iframe');
      frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms allow-popups '
        + 'allow-popups-to-escape-sandbox');
      frame.setAttribute('loading', 'lazy');
      frame.title = this.getAttribute('label') ?? 'Token by Token: a language model writes, one token at a time';
      frame.width = '100%';
      frame.height = String(atFirst);
      Object.assign(frame.style, { border: '0', display: 'block' });
      if (this.style.display === '') this.style.display = 'block';
      frame.src = url.href;
      this.#frame = frame;
      this.append(frame);
    }

    // receive accepts only heights, and only from the framed page.
    #receive({ source, origin, data }) {
      const frame = this.#frame;
      if (!frame || source !== frame.contentWindow || origin !== new URL(frame.src).origin) return;
      if (data?.viz !== 'size' || !Number.isFinite(data.height)) return;
      frame.height = String(Math.min(highest, Math.max(lowest, Math.ceil(data.height))));
    }
  }

  class Loop extends Embed {
    static observedAttributes = ['prompt', 'log', 'view', 'base'];

    address() { return `loop/${this.query('prompt', 'log', 'view')}`; }
  }

  class Widget extends Embed {
    static observedAttributes = ['experiment', 'drill', 'level', 'seed', 'view', 'base'];

    address() {
      const name = (attribute) => encodeURIComponent(this.getAttribute(attribute));
      if (this.hasAttribute('drill')) return `practice/${name('drill')}/${this.query('level', 'seed')}`;
      return this.hasAttribute('experiment') ? `learn/widget/${name('experiment')}/${this.query('view')}` : '';
    }
  }

  if (!customElements.get('viz-loop')) { // a page may load the script twice
    customElements.define('viz-loop', Loop);
    customElements.define('viz-widget', Widget);
  }
}
