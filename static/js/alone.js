// A page in another site's frame whose sandbox lacks allow-same-origin has no origin: it
// cannot load module scripts, and the server refuses its sockets. This blocking script
// therefore marks the page as unable to run there (embed.css).
if (self.origin === 'null') document.documentElement.dataset.alone = '';
