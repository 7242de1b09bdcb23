customElements.define("fm-rules", class extends HTMLElement { heading = "Rules"; });
