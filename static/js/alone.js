// A page in another site's frame whose sandbox lacks allow-same-origin has no origin: scripts
// that are modules do not reach it, nor does the server answer its sockets. So this blocking
// script has it say that it cannot run there (embed.css).
if (self.origin === 'null') document.documentElement.dataset.alone = '';
