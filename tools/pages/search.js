/*
 * search.js - the search of the manual's pages, in what words.js has of each: title, file, text,
 * and the names that it documents. It works from files: nothing is asked of a server.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
(function () {
    "use strict";
    const field = document.getElementById("search"), found = document.getElementById("found");
    const most = 20;
    let pages = [], script = null;

    /* words.js is large: it is loaded at the first search. */
    function load() {
        if (script !== null) return;
        script = document.createElement("script");
        script.src = "words.js";
        script.onload = () => {
            pages = words.map(([title, file, text, names]) => ({
                title, file, text, names, lower: text.toLowerCase(), name: title.toLowerCase() }));
            show();
        };
        document.head.append(script);
    }

    /* Returns how well PAGE matches the PARTS of a query; 0 if one is missing. Names need case. */
    function rank(page, parts) {
        let sum = page.names.includes(field.value.trim()) ? 2000 : 0;
        for (const part of parts) {
            const at = page.lower.indexOf(part);
            if (page.name.replace(/\(.*/, "") === part) sum += 1000;
            else if (page.name.startsWith(part)) sum += 100;
            else if (page.name.includes(part)) sum += 50;
            else if (at >= 0) sum += at < 400 ? 20 : 1; /* a page begins with its names */
            else return 0;
        }
        return sum;
    }

    /* Returns the text around the first of PARTS in PAGE, with the part marked. */
    function excerpt(page, parts) {
        const line = document.createElement("p");
        const part = parts.find(one => page.lower.includes(one)) || "";
        const at = Math.max(0, page.lower.indexOf(part)), from = Math.max(0, at - 60);
        const mark = document.createElement("mark");
        mark.textContent = page.text.slice(at, at + part.length);
        line.append((from > 0 ? "\u2026" : "") + page.text.slice(from, at), mark,
            page.text.slice(at + part.length, at + part.length + 100));
        return line;
    }

    function show() {
        const parts = field.value.toLowerCase().split(/\s+/).filter(part => part !== "");
        found.replaceChildren();
        if (parts.length === 0 || pages.length === 0) return;
        const best = pages.map(page => ({ page, value: rank(page, parts) }))
            .filter(one => one.value > 0).sort((a, b) => b.value - a.value).slice(0, most);
        const list = document.createElement("ol");
        for (const { page } of best) {
            const item = document.createElement("li"), link = document.createElement("a");
            link.href = page.file;
            link.textContent = page.title;
            item.append(link, excerpt(page, parts));
            list.append(item);
        }
        found.append(best.length > 0 ? list : "Nothing is found.");
    }

    field.addEventListener("focus", load);
    field.addEventListener("input", show);
    /* Until words.js is loaded, the form itself is sent, to the entry page. */
    field.form.addEventListener("submit", event => {
        const first = found.querySelector("a");
        if (first === null) return;
        event.preventDefault();
        location.href = first.href;
    });
    field.value = new URLSearchParams(location.search).get("q") || "";
    if (field.value !== "") load();
})();
