// Shows what happens to the visitor's claims as soon as the shop knows it. Without this script a reload shows the same.
// After a lost connection, EventSource connects again by itself, and the shop then sends all states once more.
const live = new EventSource("/live");

live.addEventListener("claim", ({ data }) => {
  const { picture, status, text } = JSON.parse(data);
  const card = document.getElementById(picture);
  if (card === null) return;
  card.dataset.status = status;
  card.querySelector("form").hidden = status === "open" || status === "arrived";
  const message = card.querySelector("[role=status]");
  // A screen reader reads each change aloud, so what is there already is left alone. `textContent` never becomes markup.
  if (message.textContent !== text) message.textContent = text;
});
