"""Every action on every page, against what WebShop's text mode shows."""

from collections.abc import Sequence

import pytest

from benchmark.tasks.webshop.webshop_env import Goal, Session, Shop
from benchmark.tasks.webshop.webshop_env.pages import item_page, sub_page

ITEM = "B09QCP4579"
"""Women's shorts with colours and sizes, without a description: the product of the second goal."""


@pytest.fixture
def session(shop: Shop, goals: Sequence[Goal]) -> Session:
    return Session(shop, goals[1])


@pytest.fixture
def at_item(session: Session) -> Session:
    session.step("search[butt lifting shorts]")
    assert session.step(f"click[{ITEM}]").valid
    return session


def test_first_page(session: Session) -> None:
    assert session.page.text == f"WebShop [SEP] Instruction: [SEP] {session.goal.instruction} [SEP] Search"
    assert session.possible == ("search[your words]",)


def test_results(session: Session, shop: Shop) -> None:
    page = session.step("search[Butt Lifting Shorts]").page
    found = shop.find("butt lifting shorts")
    assert page.text.startswith(
        f"Instruction: [SEP] {session.goal.instruction} [SEP] Back to Search [SEP] Page 1 (Total results: 50) [SEP] "
        f"Next > [SEP] {found[0].asin} [SEP] {found[0].title} [SEP] {found[0].price_tag} [SEP] {found[1].asin}"
    )
    assert page.labels == ("back to search", "next >", *(product.asin.lower() for product in found[:10]))


def test_paging_to_the_end_and_back(session: Session, shop: Shop) -> None:
    session.step("search[shoes]")
    for number in range(2, 7):
        assert f"Page {number} (Total results: {len(shop.find('shoes'))})" in session.step("click[next >]").page.text
    assert session.page.labels == ("back to search", "< prev", "next >")
    for number in range(5, 0, -1):
        assert f"Page {number} (" in session.step("click[< prev]").page.text
    assert not session.step("click[< prev]").valid


def test_a_search_without_results(session: Session) -> None:
    step = session.step("search[qqqqqq]")
    assert step.valid
    assert step.page.text.endswith("Back to Search [SEP] Page 1 (Total results: 0) [SEP] Next >")


def test_item(at_item: Session) -> None:
    text = at_item.page.text
    assert text.startswith(
        f"Instruction: [SEP] {at_item.goal.instruction} [SEP] Back to Search [SEP] < Prev [SEP] color"
    )
    assert text.endswith(
        "[SEP] LWLW High Waist Yoga Shorts for Women,Tummy Control Biker Shorts Exercise Workout Butt Lifting Tights "
        "Women's Short Pants [SEP] Price: $13.99 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews "
        "[SEP] Buy Now"
    )
    assert at_item.page.labels[:6] == ("back to search", "< prev", "description", "features", "reviews", "buy now")
    assert {"black", "3x-large"} <= set(at_item.page.labels)


@pytest.mark.parametrize("label", ["Description", "Features", "Reviews"])
def test_sub_pages_lead_back_and_keep_the_options(at_item: Session, label: str) -> None:
    before = at_item.page
    at_item.step("click[black]")
    page = at_item.step(f"click[{label}]").page
    head = f"Instruction: [SEP] {at_item.goal.instruction} [SEP] Back to Search [SEP] < Prev"
    product = at_item.shop.products[ITEM]
    content = {"Description": [product.description] if product.description else [], "Features": product.features}
    assert page.text == " [SEP] ".join([head, *(part.strip() for part in content.get(label, []))])
    assert page.labels == ("back to search", "< prev")
    assert at_item.step("click[< prev]").page == before
    assert at_item.chosen == {"color": "black"}


def test_attributes_are_shown_on_request_only(shop: Shop, goals: Sequence[Goal], at_item: Session) -> None:
    assert not at_item.step("click[attributes]").valid
    session = Session(shop, goals[1], show_attributes=True)
    session.step("search[butt lifting shorts]")
    session.step(f"click[{ITEM}]")
    product = shop.products[ITEM]
    page = session.step("click[attributes]").page
    assert page == sub_page(goals[1].instruction, product, "Attributes")
    assert page.text.endswith(" [SEP] ".join([*product.attributes, "fashion", product.query, product.product_category]))


def test_choosing_again_replaces_the_choice(at_item: Session) -> None:
    before = at_item.page
    for value in ("blue", "black", "3x-large"):
        assert at_item.step(f"click[{value}]").page == before
    assert at_item.chosen == {"color": "black", "size": "3x-large"}


def test_leaving_for_the_results_forgets_the_options(at_item: Session) -> None:
    at_item.step("click[black]")
    assert at_item.step("click[< prev]").page.kind == "results"
    assert at_item.chosen == {}
    at_item.step(f"click[{ITEM}]")
    at_item.step("click[back to search]")
    assert at_item.page.kind == "search"
    assert at_item.bought is None


def test_back_leads_to_the_page_of_results_one_came_from(session: Session) -> None:
    session.step("search[shoes]")
    third = [session.step("click[next >]") for _ in range(2)][-1].page
    session.step(f"click[{third.labels[3]}]")
    assert session.step("click[< prev]").page == third


def test_search_is_understood_on_every_page(at_item: Session) -> None:
    assert at_item.step("search[lamps]").page.kind == "results"


def test_purchase(at_item: Session) -> None:
    at_item.step("click[black]")
    at_item.step("click[3x-large]")
    step = at_item.step("click[Buy Now]")
    assert step.reward is not None
    assert step.reward.total == 1
    assert at_item.over
    assert at_item.bought == ITEM
    assert step.page.text == "Thank you for shopping with us! [SEP] Your score (min 0.0, max 1.0) [SEP] 1.0"
    with pytest.raises(ValueError, match="over"):
        at_item.step("click[buy now]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "buy now",
        "click[]",
        "click[search]",
        "click[buy now]",
        "search[]",
        "search[ ]",
        "Search[x]",
        "think[x]",
        "][",
    ],
)
def test_what_is_no_action_changes_nothing(session: Session, text: str) -> None:
    before = session.page
    step = session.step(text)
    assert not step.valid
    assert step.page == session.page == before


@pytest.mark.parametrize("command", ["<r>", "<a> long sleeve", "<c> fashion", "<q> console tables"])
def test_hidden_commands_are_plain_words(session: Session, shop: Shop, command: str) -> None:
    session.step(f"search[{command}]")
    words = command.replace("<", " ").replace(">", " ")
    assert f"(Total results: {len(shop.find(words))})" in session.page.text
    assert [p.asin for p in shop.find(command)] == [p.asin for p in shop.find(words)]


def test_every_product_can_be_opened_and_bought(shop: Shop, goals: Sequence[Goal]) -> None:
    """No page of the catalogue breaks, every option can be chosen, every purchase is worth 0 to 1."""
    for product in shop.products.values():
        page = item_page("x", product, show_attributes=False)
        assert set(page.options) == {value for values in product.options.values() for value in values}
        assert " [SEP] Price: $" in page.text
    session = Session(shop, goals[0])
    session.step("search[pillow]")
    for label in session.page.labels[2:]:
        session = Session(shop, goals[0])
        session.step("search[pillow]")
        session.step(f"click[{label}]")
        for value in session.page.options:
            assert session.step(f"click[{value}]").valid
        worth = session.step("click[buy now]").reward
        assert worth is not None
        assert 0 <= worth.total <= 1
