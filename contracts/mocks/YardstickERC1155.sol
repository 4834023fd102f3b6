// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {ERC1155Burnable} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Burnable.sol";
import {ERC1155Supply} from "@openzeppelin/contracts/token/ERC1155/extensions/ERC1155Supply.sol";
import {ERC2981} from "@openzeppelin/contracts/token/common/ERC2981.sol";

/// @title YardstickERC1155
/// @notice An ERC1155 collection built from OpenZeppelin's parts alone, as a reference for the gas table and the
/// differential test. The owner mints. It has a supply for each id, URIs, a royalty, and burning.
contract YardstickERC1155 is ERC1155, ERC1155Supply, ERC1155Burnable, ERC2981, Ownable2Step {
    string public name;
    string public symbol;
    string public contractURI;

    constructor(
        string memory name_,
        string memory symbol_,
        string memory template,
        string memory contractURI_,
        address royaltyRecipient,
        uint96 royaltyBasisPoints
    ) ERC1155(template) Ownable(msg.sender) {
        name = name_;
        symbol = symbol_;
        contractURI = contractURI_;
        if (royaltyRecipient != address(0)) _setDefaultRoyalty(royaltyRecipient, royaltyBasisPoints);
    }

    function mint(address to, uint256 id, uint256 amount) external onlyOwner {
        _mint(to, id, amount, "");
    }

    function supportsInterface(bytes4 interfaceId) public view override(ERC1155, ERC2981) returns (bool) {
        return super.supportsInterface(interfaceId);
    }

    function _update(
        address from,
        address to,
        uint256[] memory ids,
        uint256[] memory values
    ) internal override(ERC1155, ERC1155Supply) {
        super._update(from, to, ids, values);
    }
}
